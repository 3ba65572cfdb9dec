// SQLite 3 as Swift sees it. SQLITE_TRANSIENT (SQLite copies what it is given) is a cast, which Swift cannot import.
#pragma once
#include <sqlite3.h>

static inline int pushload_sqlite3_bind_text(sqlite3_stmt *statement, int place, const char *text, int count) {
  return sqlite3_bind_text(statement, place, text, count, SQLITE_TRANSIENT);
}
static inline int pushload_sqlite3_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, int count) {
  return sqlite3_bind_blob(statement, place, bytes, count, SQLITE_TRANSIENT);
}
