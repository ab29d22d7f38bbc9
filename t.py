import os,sys
fd=os.open('state/x.tmp',os.O_CREAT|os.O_EXCL|os.O_WRONLY,0o600)
os.write(fd,b'{"a":1}\n'*3)
os.fsync(fd); os.close(fd)
os.rename('state/x.tmp','state/x')
d=os.open('state',os.O_DIRECTORY); os.fsync(d); os.close(d)
print('{"ok":true}',flush=True)
