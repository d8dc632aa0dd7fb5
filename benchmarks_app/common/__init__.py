"""What the other rooms share: names, people as they are read, exposure, work in a process apart."""
