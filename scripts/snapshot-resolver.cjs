// Keeps snapshots beside the sources of the tests: what is compiled from them is removed by each
// build. CommonJS, because jest requires this file, and only Node 24.9 or newer can require an ES
// module there.
const path = require('node:path')

const BUILT = path.join('/', 'build', '__tests__', '/')
const SOURCES = path.join('/', '__tests__', '/')

module.exports = {
  resolveSnapshotPath: (test, extension) =>
    path.join(
      path.dirname(test).replace(BUILT, SOURCES),
      '__snapshots__',
      path.basename(test).replace(/js$/, `ts${extension}`),
    ),
  resolveTestPath: (snapshot, extension) =>
    path.join(
      path.dirname(path.dirname(snapshot)).replace(SOURCES, BUILT),
      path.basename(snapshot, extension).replace(/ts$/, 'js'),
    ),
  testPathForConsistencyCheck: path.join(BUILT, 'e2e', 'log.test.js'),
}
