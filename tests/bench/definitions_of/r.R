# Prints the definitions of R, found by its own parser: path, line, name. Paths are read from standard input.
CLASSES <- c("setClass", "setGeneric", "setMethod", "setRefClass", "setValidity")

name_of <- function(data, id) {
  # An expression that is one name or one text.
  inner <- data[data$parent == id & data$token %in% c("SYMBOL", "STR_CONST"), ]
  if (nrow(inner) == 1) gsub("^[\"'`]|[\"'`]$", "", inner$text) else NA
}

of_path <- function(path) {
  data <- getParseData(parse(path, keep.source = TRUE))
  tell <- function(line, name) cat(path, "\t", line, "\t", name, "\n", sep = "")
  cat(path, "\t0\t\n", sep = "")
  if (is.null(data)) return()
  parents <- setNames(data$parent, data$id)
  in_call <- function(id) {
    # Only blocks and conditions are around what is outside.
    while (as.character(id) %in% names(parents)) {
      tokens <- data$token[data$parent == id]
      if (any(tokens %in% c("FUNCTION", "'\\\\'")) || (any(tokens == "'('") && !any(tokens == "IF"))) return(TRUE)
      id <- parents[[as.character(id)]]
    }
    FALSE
  }
  is_function <- function(id) any(data$token[data$parent == id] %in% c("FUNCTION", "'\\\\'"))
  for (at in which(data$token %in% c("LEFT_ASSIGN", "EQ_ASSIGN", "RIGHT_ASSIGN"))) {
    around <- data$parent[at]
    sides <- data[data$parent == around & data$token %in% c("expr", "expr_or_assign_or_help", "equal_assign"), ]
    if (nrow(sides) < 2) next
    is_right <- data$token[at] == "RIGHT_ASSIGN"
    target <- sides[if (is_right) nrow(sides) else 1, ]
    value <- sides[if (is_right) 1 else nrow(sides), ]
    name <- name_of(data, target$id)
    if (is.na(name)) next
    if (is_function(value$id)) tell(target$line1, name)
    else tell(target$line1, if (in_call(around) || any(data$token[data$parent == target$id] == "'$'") || FALSE) paste0("?", name) else name)
  }
  # Arguments with a name may be members: of R6 classes, of lists.
  for (at in which(data$token == "SYMBOL_SUB")) tell(data$line1[at], paste0("?", gsub("^`|`$", "", data$text[at])))
  for (at in which(data$token == "SYMBOL_FUNCTION_CALL" & data$text %in% CLASSES)) {
    call <- parents[[as.character(data$parent[at])]]
    arguments <- data[data$parent == call & data$token == "expr", ]
    if (nrow(arguments) < 2) next
    name <- name_of(data, arguments$id[2])
    if (!is.na(name)) tell(data$line1[at], paste0("?", name))
  }
}

for (path in readLines(file("stdin"))) try(of_path(path), silent = TRUE)
