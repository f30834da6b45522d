# Large transfers of the library's tcp over cables that delay and lose packets by the kernel's netem: the bytes are right. The
# bandwidth is printed beside a plain socket's; how an emulated processor divides its time is no fault of either. $BUILD is the
# build folder.
# guest: --devices none --cpus 2 --memory 1024 --limit 300

network() { LD_LIBRARY_PATH=$BUILD/impl "$BUILD/impl/test/impl_network" --netem --mbit 100 --rounds 1 --mib 16 "$@"; }

limit_of_delays=120
check_delays() { network --rtt 10 message-1 write-1; }

limit_of_losses=120
check_losses() { network --rtt 10 --drop-every 1000 message-1; }
