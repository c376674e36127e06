import { beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { treeOf } from '#test/support/process-tree.ts'
import { ProductProcess, startProductProcess } from '#test/support/product-process.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { setUpSite } from '#test/support/test-product.ts'

const product = startedOnce(() => startProductProcess({ ROLES: 'write-api,read-api,projections' }))
let root: ConsoleClient

beforeAll(async () => {
  root = await setUpSite(product.url)
})

/** Returns the process ids of the product's Postgres. The product has no other child processes. */
const databaseOf = (): number[] => treeOf(product.pid).slice(1)

it.each(['/livez', '/startupz', '/readyz'])('a started product answers %s', async (path) => {
  const answer = await fetch(`${product.url}${path}`)
  expect(answer.headers.get('content-type')).toContain('text/plain')
  expect([answer.status, await answer.text()]).toEqual([200, 'ok\n'])
})

// The two tests wait for different processes, so they run at once.
it.concurrent('a frozen Postgres makes the product unready at once; requests fail in time', async ({
  expect,
}) => {
  const readiness = async () => {
    const answer = await fetch(`${product.url}/readyz`)
    return `${answer.status} ${(await answer.text()).trim()}`
  }
  const self = async () => (await root.call('GET', '/api/user/self')).status
  expect([await readiness(), await self()]).toEqual(['200 ok', 200])
  const frozen = databaseOf()
  expect(frozen.length).toBeGreaterThan(3)
  for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  try {
    const refused = self()
    await expect.poll(readiness, { timeout: 12_000 }).toBe('503 Postgres')
    expect(await refused).toBe(503)
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
  }
  await expect.poll(readiness).toBe('200 ok')
  expect(await self()).toBe(200)
})

it.concurrent('an EventStoreDB that only reads makes the product unready in 5 s', async ({
  expect,
  onTestFinished,
}) => {
  const server = await startEventStoreDbServer()
  const writer = await ProductProcess.create({
    ...{ ROLES: 'write-api,read-api,projections,relay' },
    ...{ EVENT_STORE: 'eventstoredb', EVENTSTORE_URL: server.url },
  })
  onTestFinished(async () => {
    await writer.close()
    await server.stop()
  })
  await writer.start()
  const readiness = async () => {
    const answer = await fetch(`${writer.url}/readyz`)
    return `${answer.status} ${(await answer.text()).trim()}`
  }
  const statusOfCall = async () =>
    (await fetch(`${writer.url}/v1/chat/completions`, { method: 'POST', body: '{}' })).status
  await expect.poll(readiness).toBe('200 ok')
  expect(await statusOfCall()).toBe(401)
  server.loseAppends('readiness-probe')
  const since = performance.now()
  await expect.poll(readiness, { timeout: 12_000 }).toBe('503 event store')
  expect(performance.now() - since).toBeLessThan(5_500)
  const askedAt = performance.now()
  expect(await statusOfCall()).toBe(503)
  expect(performance.now() - askedAt).toBeLessThan(1_000)
  server.loseAppends(null)
  await expect.poll(readiness, { timeout: 12_000 }).toBe('200 ok')
}, 180_000)
