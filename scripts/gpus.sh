# Sourced by what runs several processes on a machine's GPUs: gpus_from N prints all of them (or those of
# CUDA_VISIBLE_DEVICES) beginning with the N-th, for a process that takes the first, or several, so that each GPU is the
# first for as many processes as any other.
IFS=, read -ra visible_gpus <<<"${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null | paste -sd,)}"
[ ${#visible_gpus[@]} -gt 0 ] || visible_gpus=(0) # there is none, which the tests will say
n_gpus=${#visible_gpus[@]}

gpus_from() {
  local order="" i
  for ((i = 0; i < n_gpus; ++i)); do order+=,${visible_gpus[($1 + i) % n_gpus]}; done
  echo "${order#,}"
}
