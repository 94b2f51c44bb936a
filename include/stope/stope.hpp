// The whole C++ API: one topic a file.
#pragma once

#include "stope/buffer.hpp"
#include "stope/compat.hpp"
#include "stope/device.hpp"
#include "stope/device_arrays.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/io.hpp"
#include "stope/knn.hpp"
#include "stope/knn_report.hpp"
#include "stope/metric.hpp"
#include "stope/nearest_name.hpp"
#include "stope/normalize.hpp"
#include "stope/run.hpp"
#include "stope/stats.hpp"
#include "stope/table.hpp"
#include "stope/version.hpp"
