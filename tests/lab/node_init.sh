#!/bin/sh
# Process 1 of a lab node. Started in fresh mount, UTS, IPC, network and pid namespaces:
#
#   node_init.sh DIR NAME ADDRESS/PREFIX IMAGES SHARED
#
# DIR holds the node's own root (DIR/root), /usr/local (DIR/local) and boot id (DIR/boot_id). IMAGES is the read-only
# image store, SHARED a directory that all nodes see as /shared. One line on standard input says that eth0 is there.
set -eu

dir=$1 name=$2 cidr=$3 images=$4 shared=$5
root=$dir/root

mount --bind "$root" "$root"

# Programs come from the machine; whatever can be written is the node's own.
mount --bind /usr "$root/usr"
mount -o remount,bind,ro "$root/usr"
mount --bind "$dir/local" "$root/usr/local"
for d in bin sbin lib lib32 lib64 libx32; do
    if [ -L "/$d" ]; then
        ln -sfn "$(readlink "/$d")" "$root/$d"
    elif [ -d "/$d" ]; then
        mkdir -p "$root/$d"
        mount --bind "/$d" "$root/$d"
    fi
done
mount --bind "$shared" "$root/shared"
mount --bind "$images" "$root/images"
mount -o remount,bind,ro "$root/images"

mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount --bind "$dir/boot_id" "$root/proc/sys/kernel/random/boot_id"
echo "$name" >"$root/proc/sys/kernel/hostname"

# A new sysfs shows this node's network; the machine's cgroup mounts must come along or runc refuses.
mount -t sysfs -o nosuid,nodev,noexec sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"

mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
mkdir -p "$root/run/sshd" "$root/run/lock"
chmod 1777 "$root/run/lock"

mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/mqueue" "$root/dev/dri" "$root/dev/infiniband"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
mount -t mqueue mqueue "$root/dev/mqueue"
node() {
    mknod -m "$1" "$root/dev/$2" c "$3" "$4"
}
node 666 null 1 3
node 666 zero 1 5
node 666 full 1 7
node 666 random 1 8
node 666 urandom 1 9
node 644 kmsg 1 11
node 666 tty 5 0
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
# Stand-ins for the accelerator and the fabric: they exist, and swallow what is written to them.
node 666 kfd 1 3
node 666 dri/card0 1 3
node 666 dri/renderD128 1 3
node 666 infiniband/uverbs0 1 3
node 666 infiniband/rdma_cm 1 3

read -r _
ip link set lo up
ip address add "$cidr" dev eth0
ip link set eth0 up

cd "$root"
mkdir -p .old
pivot_root . .old
umount -l /.old
rmdir /.old

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /
exec chroot / /bin/sh -c '
    /usr/sbin/sshd -E /var/log/sshd.log
    # Not sshd itself: a node must outlive its sshd. The shell in "wait" also reaps orphans.
    sleep infinity &
    wait
' lab-init </dev/null
