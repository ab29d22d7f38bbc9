//! Prints the table.

fn main() {
    print!("{}", skep_official::text());
}
