//! The `skep` command: everything is in the library, under [`cli`](skep::cli).

use skep::exit_code::ExitCode;

fn main() -> ExitCode {
    skep::cli::main()
}
