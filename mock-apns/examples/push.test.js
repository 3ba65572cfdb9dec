// Run with a mock beside it: with-mock-apns -- node --test push.test.js
const test = require("node:test");
const assert = require("node:assert");
const { connect, push } = require("./push.js");

const { MOCK_APNS_ADMIN: admin, MOCK_APNS_CREDENTIALS: credentials, MOCK_APNS_PORT: port } = process.env;
const device = "0a".repeat(32);
const payload = { aps: { alert: "hello" } };
let session;

test.beforeEach(async () => {
  await fetch(`${admin}/reset`, { method: "POST" });
  session = connect(credentials, port);
});
test.afterEach(() => session.close());

test("a push arrives", async () => {
  assert.deepEqual(await push(session, device, payload), { status: 200, reason: undefined });
  const [arrived] = await (await fetch(`${admin}/pushes?token=${device}`)).json();
  assert.deepEqual(JSON.parse(arrived.payload), payload);
});

test("a device that is gone", async () => {
  await fetch(`${admin}/devices/${device}`, { method: "PUT", body: "{state: unregistered}" });
  assert.deepEqual(await push(session, device, payload), { status: 410, reason: "Unregistered" });
});
