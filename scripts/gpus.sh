# To be sourced by scripts that run several processes on a machine's GPUs. gpus_from N prints all GPUs (or those of
# CUDA_VISIBLE_DEVICES), beginning with the N-th. A process takes the first of them, or several, so that each GPU is
# first for equally many processes.
IFS=, read -ra visible_gpus <<<"${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | paste -sd,)}"
[ ${#visible_gpus[@]} -gt 0 ] || visible_gpus=(0) # there is none, which the tests will say
n_gpus=${#visible_gpus[@]}

gpus_from() {
  local order="" i
  for ((i = 0; i < n_gpus; ++i)); do order+=,${visible_gpus[($1 + i) % n_gpus]}; done
  echo "${order#,}"
}
