/**
 * Jest's globalSetup: the tests run in a time zone other than UTC, in which they would not notice a date that is read as
 * local time. Set here, before the workers start, because `process.env` inside a test is a copy that does not change the
 * time zone, and a variable in front of a command in package.json would not work on Windows.
 */
export default function setTimeZone() {
  process.env.TZ = 'America/New_York'
}
