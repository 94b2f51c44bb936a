#!/usr/bin/env bash
# Whether this machine has an NVIDIA driver (exit 0): then make demo builds the CUDA plug-in.
[ -e /proc/driver/nvidia/version ] || [ -e /dev/nvidiactl ] || ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'
