import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import { firstLine, type NodeChild, spawnNode } from '#test/support/child-process.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { collect } from './conformance.ts'
import { startWriters } from './start-writers.ts'

const PROGRAM = fileURLToPath(
  new URL('../../support/event-store-db/server-program.ts', import.meta.url),
)

/** Starts the simulated server as a separate process. Resolves with its URL when it is ready. */
async function startProgram(
  file: string,
  port: string,
): Promise<{ child: NodeChild; url: string }> {
  const child = spawnNode(PROGRAM, '--file', file, '--port', port)
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, url: await firstLine(child) }
}

it('kill -9 of the server under load loses no acknowledged event and doubles none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-esdb-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'events.ndjson')
  const seen = { errors: 0 }
  const write = (line: string): void => {
    if (line.includes('will be retried')) seen.errors += 1
  }
  let { child, url } = await startProgram(file, '0')
  const port = new URL(url.replace('esdb', 'http')).port
  const log = pino({ level: 'debug' }, { write })
  const store = await createEventStoreDbStore({
    ...{ url, locks: createMemoryLocks(), log, deadlineMs: 20_000 },
  })
  const load = startWriters(store, 6)
  for (let kill = 0; kill < 3; kill += 1) {
    await load.untilMore(31)
    child.kill('SIGKILL')
    ;({ child, url } = await startProgram(file, port))
  }
  const ids = await load.end()
  expect(seen.errors).toBeGreaterThanOrEqual(3)
  const all = await collect(store, 0, ids.length)
  expect(all.map(({ id }) => id).sort()).toEqual(ids.sort())
  expect(await store.readAll(0, ids.length + 1)).toHaveLength(ids.length)
  await store.close()
})

it('the server also supports what this product avoids: batch appends, filters', async () => {
  const server = await startEventStoreDbServer()
  onTestFinished(() => server.stop())
  const client = EventStoreDBClient.connectionString(server.url)
  onTestFinished(() => client.dispose())
  const events = (count: number) =>
    Array.from({ length: count }, (_, n) => jsonEvent({ type: 'Happened', data: { n } }))
  const given = events(3)
  const options = { expectedRevision: NO_STREAM } as const
  expect((await client.appendToStream('a-1', given, options)).nextExpectedRevision).toBe(2n)
  expect((await client.appendToStream('a-1', given, options)).nextExpectedRevision).toBe(2n)
  await expect(client.appendToStream('a-1', events(1), options)).rejects.toThrow()
  await expect(
    client.appendToStream('b-1', jsonEvent({ type: 'T', data: { x: 'x'.repeat(1_100_000) } })),
  ).rejects.toThrow()
  await client.appendToStream('b-1', events(40))
  expect(server.seen().batchAppends).toBe(5)
  const checkpoints: bigint[] = []
  const subscription = client.subscribeToAll({
    filter: {
      filterOn: 'streamName',
      prefixes: ['a-'],
      checkpointInterval: 1,
      checkpointReached: async (_, { commit }) => void checkpoints.push(commit),
    },
  })
  const seen: string[] = []
  subscription.on('data', ({ event }) => void seen.push(event?.streamId ?? ''))
  await expect.poll(() => checkpoints.length).toBe(1)
  expect(seen).toEqual(['a-1', 'a-1', 'a-1'])
  await subscription.unsubscribe()
})
