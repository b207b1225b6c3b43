# The supervisor for binaries that are not ours: "sh -c SCRIPT supervise FOLDER".
# It obeys the same lines and gives the same reports as cluster/supervise.go. Unlike
# that one it cannot save the parts when it is killed by SIGKILL itself; its parent
# kills the group then.
folder=$1
mkdir -p "$folder/pids" "$folder/stopping"

end() {
    trap '' TERM INT HUP QUIT
    for file in "$folder"/pids/*; do
        case $file in
        */kube-apiserver | */etcd | *'*') ;;
        *) kill -KILL "$(cat "$file")" 2>/dev/null ;;
        esac
    done
    for name in kube-apiserver etcd; do
        [ ! -e "$folder/pids/$name" ] || kill -KILL "$(cat "$folder/pids/$name")" 2>/dev/null
    done
    # A process that is just dying may still make a file.
    rm -rf "$folder" 2>/dev/null || rm -rf "$folder" || rm -rf "$folder"
    echo ended
    # Whatever is left of the group goes, this shell with it.
    kill -KILL 0
}
trap end TERM INT HUP QUIT
# Writing to a dead parent must be an error and not the end: there is a folder to remove.
trap '' PIPE

start() {
    # A shell can wait only for its own children, so each part has one that waits for it.
    (
        trap - TERM INT HUP QUIT
        set --
        while IFS= read -r word; do set -- "$@" "$word"; done <"$folder/parts/$name"
        cd "$folder" || exit
        HOME=$folder "$@" >>"$folder/logs/$name.log" 2>&1 </dev/null &
        pid=$!
        echo "started $name $pid"
        echo "$pid" >"$folder/pids/$name.new"
        mv "$folder/pids/$name.new" "$folder/pids/$name"
        wait "$pid"
        status=$?
        rm -f "$folder/pids/$name"
        if [ -e "$folder/stopping/$name" ]; then
            rm -f "$folder/stopping/$name"
            echo "stopped $name exit status $status"
        else
            tail -n 30 "$folder/logs/$name.log" | sed 's/^/log /'
            echo "died $name exit status $status"
            kill -TERM "$$"
        fi
    ) </dev/null &
    # A part that nobody knows of could not be ended.
    until [ -e "$folder/pids/$name" ] || ! kill -0 "$!" 2>/dev/null; do :; done
}

signal() {
    if [ -e "$folder/pids/$name" ]; then
        kill "-$1" "$(cat "$folder/pids/$name")"
    else
        echo "failed $verb $name: no such part is running"
        end
    fi
}

while read -r verb name; do
    case $verb in
    start) start ;;
    stop) touch "$folder/stopping/$name" && signal TERM ;;
    kill) touch "$folder/stopping/$name" && signal KILL ;;
    pause) signal STOP && echo "paused $name" ;;
    resume) signal CONT && echo "resumed $name" ;;
    *)
        echo "failed $verb $name: no such verb"
        end
        ;;
    esac
done
end
