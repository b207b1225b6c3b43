package main

import (
	"os"
	"os/exec"
	"strconv"
)

// Names the file descriptor of a part's lifeline, in its environment.
const lifelineVariable = "CONTROL_PLANE_LIFELINE"

// The write ends of all lifelines. They are held open for as long as the
// supervisor lives, also against the garbage collector.
var held []*os.File

// hold gives the part a pipe as its file descriptor 3 that nobody writes to. Its
// end of file tells the part that even the supervisor was killed. The returned
// read end is to be closed once the part runs.
func hold(command *exec.Cmd) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	held = append(held, write)
	command.ExtraFiles = []*os.File{read}
	return read, nil
}

// grasp ends this process when the supervisor that started it is gone. Without a
// supervisor it does nothing.
func grasp() {
	descriptor, err := strconv.Atoi(os.Getenv(lifelineVariable))
	if err != nil {
		return
	}
	_ = os.Unsetenv(lifelineVariable)
	line := os.NewFile(uintptr(descriptor), "lifeline")
	go func() {
		_, _ = line.Read(make([]byte, 1))
		os.Exit(1)
	}()
}
