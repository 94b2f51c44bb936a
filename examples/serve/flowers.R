# Uses a stope server from R: keeps a data frame, fits a model and predicts. Numbers keep all their bits.
# It needs R itself and the program curl, which Linux, macOS and Windows 10 have; no package.
# STOPE_SERVER is the address, such as https://gpu-box:7400 or http://127.0.0.1:7400; STOPE_TOKEN is a token.
# STOPE_CA, if set, is a file with the certificate that is to be trusted, for a server whose certificate is its own.

server <- Sys.getenv("STOPE_SERVER", "http://127.0.0.1:7400")
rows_type <- "application/vnd.stope.rows"

# JSON ------------------------------------------------------------------------------------------------------------

quoted <- function(text) {
  text <- gsub("([\"\\\\])", "\\\\\\1", enc2utf8(text))
  paste0("\"", gsub("\n", "\\\\n", gsub("\t", "\\\\t", text)), "\"")
}

unquoted <- function(token) {
  text <- substr(token, 2, nchar(token) - 1)
  for (code in unique(regmatches(text, gregexpr("\\\\u[0-9a-fA-F]{4}", text))[[1]])) {
    text <- gsub(code, intToUtf8(strtoi(substr(code, 3, 6), 16)), text, fixed = TRUE)
  }
  text <- gsub("\\n", "\n", gsub("\\t", "\t", text, fixed = TRUE), fixed = TRUE)
  gsub("\\\\([\"\\\\/])", "\\1", text)
}

# Objects become named lists, lists lists; words and numbers stay texts.
from_json <- function(text) {
  pattern <- "\"(?:[^\"\\\\]|\\\\.)*\"|[][{}:,]|[^][{}:,\"\\s]+"
  tokens <- regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]
  at <- 0
  following <- function() tokens[at <<- at + 1]
  value <- function(token) {
    if (!token %in% c("{", "[")) {
      return(if (startsWith(token, "\"")) unquoted(token) else token)
    }
    items <- list()
    closing <- if (token == "{") "}" else "]"
    while ((token <- following()) != closing) {
      if (token == ",") next
      if (closing == "}") {
        stopifnot(following() == ":")
        items[[unquoted(token)]] <- value(following())
      } else {
        items[[length(items) + 1]] <- value(token)
      }
    }
    items
  }
  value(following())
}

# Rows: a line of JSON, then doubles -------------------------------------------------------------------------------

as_rows <- function(frame, label = "") {
  columns <- vapply(names(frame), function(name) {
    column <- frame[[name]]
    nominal <- if (is.factor(column)) paste(quoted(levels(column)), collapse = ",")
    paste0("{\"name\":", quoted(name), ",\"type\":\"", if (is.factor(column)) "nominal" else "real", "\",\"role\":\"",
           if (name == label) "label" else "regular", "\"", if (is.factor(column)) paste0(",\"values\":[", nominal, "]"),
           "}")
  }, "")
  line <- paste0("{\"columns\":[", paste(columns, collapse = ","), "],\"order\":\"columns\"}\n")
  numbers <- unlist(lapply(frame, function(column) as.numeric(column) - is.factor(column)), use.names = FALSE)
  count <- function(n) writeBin(c(as.integer(n), 0L), raw(), endian = "little")  # an int64
  c(charToRaw(enc2utf8(line)), count(nrow(frame)), writeBin(numbers, raw(), size = 8, endian = "little"), count(0))
}

from_rows <- function(bytes) {
  end <- match(charToRaw("\n"), bytes)
  columns <- from_json(rawToChar(bytes[seq_len(end - 1)]))$columns
  numbers <- rep(list(numeric()), length(columns))
  repeat {
    stopifnot(length(bytes) >= end + 8)  # an answer that was cut has no block of no rows at its end
    n <- sum(readBin(bytes[end + 1:8], "integer", 8, size = 1, signed = FALSE) * 256^(0:7))
    end <- end + 8
    if (n == 0) break
    for (c in seq_along(columns)) {
      stopifnot(length(bytes) >= end + 8 * n)
      numbers[[c]] <- c(numbers[[c]], readBin(bytes[end + seq_len(8 * n)], "double", n, endian = "little"))
      end <- end + 8 * n
    }
  }
  frame <- lapply(seq_along(columns), function(c) {
    values <- unlist(columns[[c]]$values)
    if (is.null(values)) numbers[[c]] else factor(values[numbers[[c]] + 1], values)
  })
  names(frame) <- vapply(columns, function(column) column$name, "")
  as.data.frame(frame, check.names = FALSE)
}

# HTTP, by curl -----------------------------------------------------------------------------------------------------

# Returns the body as bytes, and the name that the header Location ends with. The token is in a file that curl reads,
# since every user of the machine can see arguments.
ask <- function(method, path, body = raw()) {
  files <- tempfile(c("config", "body", "answer", "head"))
  on.exit(unlink(files))
  Sys.umask("077")
  ca <- Sys.getenv("STOPE_CA")
  writeLines(c(
    paste0("header = \"Authorization: Bearer ", Sys.getenv("STOPE_TOKEN"), "\""),
    paste0("header = \"Content-Type: ", rows_type, "\""), paste0("header = \"Accept: ", rows_type, "\""),
    if (ca != "") paste0("cacert = \"", ca, "\""), "silent", "show-error"
  ), files[1])
  writeBin(body, files[2])
  sends <- if (length(body) > 0) c("--data-binary", shQuote(paste0("@", files[2])))
  status <- system2("curl", c("--config", files[1], "--request", method, "--output", files[3],
                              "--dump-header", files[4], sends, shQuote(paste0(server, path))))
  if (status != 0) stop("curl ended with the code ", status)
  answer <- if (file.exists(files[3])) readBin(files[3], "raw", file.size(files[3])) else raw()
  head <- readLines(files[4])
  code <- as.integer(strsplit(tail(grep("^HTTP/", head, value = TRUE), 1), " ")[[1]][2])
  if (code >= 300) stop("the server says: ", from_json(rawToChar(answer))$detail)
  place <- grep("^location:", head, ignore.case = TRUE, value = TRUE)
  list(body = answer, name = sub(".*/", "", trimws(place)))
}

# The same flowers as in the other examples -------------------------------------------------------------------------

train <- data.frame(sepal = c(5.1, 4.9, 6.4, 6.3), petal = c(1.4, 1.5, 4.5, 6.0),
                    species = factor(c("setosa", "setosa", "versicolor", "virginica")))
queries <- data.frame(sepal = c(6.0, 5.0), petal = c(4.4, 1.4))

table <- ask("POST", "/v1/tables", as_rows(train, label = "species"))$name
model <- ask("POST", paste0("/v1/models/fit?kind=classify&n_neighbors=1&table=", table))$name
write.csv(from_rows(ask("POST", paste0("/v1/models/", model, "/predict"), as_rows(queries))$body), row.names = FALSE,
          quote = FALSE)
invisible(ask("DELETE", paste0("/v1/models/", model)))
invisible(ask("DELETE", paste0("/v1/tables/", table)))
