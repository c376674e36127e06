import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { removeUnusedTexts } from '#write-api/messages/remove-unused-texts.ts'
import { restoreDeletedText, storeText } from '#write-api/messages/send-message.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const MORE_THAN_AN_HOUR = 3_660_000
const NEVER = new AbortController().signal
const TEXT = { title: 'About you', content: 'a text without an event' }

/** Returns those of the references whose secrets exist. */
async function existing(refs: readonly string[]): Promise<string[]> {
  const { rows } = await fixture.core.pg.query<{ ref: string }>(
    'select ref from vault.secrets where ref = any($1)',
    [refs],
  )
  return refs.filter((ref) => rows.some((row) => row.ref === ref))
}

async function send(): Promise<number> {
  const body = { title: 'Kept', content: 'kept', user_ids: [fixture.root.id] }
  return (await fixture.root.call<{ id: number }>('POST', '/api/admin/messages', { body })).data.id
}

it('texts that no event refers to are deleted after an hour, and others stay', async () => {
  const { vault } = fixture.core
  const [kept, deleted] = [await send(), await send()]
  await fixture.root.call('DELETE', `/api/admin/messages/${deleted}`)
  const unused = [
    // The process died during an edit, during a deletion, and before a message was sent.
    await storeText(vault, kept, TEXT),
    await storeText(vault, deleted, TEXT),
    await storeText(vault, 987_654, TEXT),
  ]
  await removeUnusedTexts(fixture, NEVER)
  expect(await existing(unused)).toEqual(unused)
  fixture.clock.ahead += MORE_THAN_AN_HOUR
  await removeUnusedTexts(fixture, AbortSignal.abort())
  expect(await existing(unused)).toEqual(unused)
  await removeUnusedTexts(fixture, NEVER)
  expect(await existing(unused)).toEqual([])
  expect(await fixture.isFold('messages')).toBe(true)
  const url = `/api/admin/messages/${kept}`
  const { data } = await fixture.root.call<{ content: string }>('GET', url)
  expect(data.content).toBe('kept')
})

/**
 * Sends a request whose append waits, as in a suspended process, while another process deletes the
 * text as unused. Then the append goes on. Returns the answer.
 */
async function pausedBeforeEvent<T>(request: () => Promise<T>): Promise<T> {
  const { pg } = fixture.core
  const client = await pg.connect()
  try {
    await client.query('begin; lock table event_store.events in share mode')
    const startedAt = (await pg.query('select clock_timestamp() as at')).rows[0].at
    const answer = request()
    const remove = `delete from vault.secrets where purpose = 'message' and made_at >= $1`
    await expect.poll(async () => (await pg.query(remove, [startedAt])).rowCount).toBe(1)
    await client.query('commit')
    return await answer
  } finally {
    client.release(true)
  }
}

const contentOf = async (id: number) => {
  const url = `/api/admin/messages/${id}`
  return (await fixture.root.call<{ content: string }>('GET', url)).data.content
}

it('a process suspended for over an hour before its event keeps the text', async () => {
  const id = await pausedBeforeEvent(send)
  expect(await contentOf(id)).toBe('kept')
  const body = { title: 'Changed', content: 'changed' }
  const url = `/api/admin/messages/${id}`
  const edit = await pausedBeforeEvent(() => fixture.root.call('PUT', url, { body }))
  expect(edit.success).toBe(true)
  expect(await contentOf(id)).toBe('changed')
})

it('a sender learns of a deletion that looked for its event too early', async () => {
  const { vault, pg } = fixture.core
  const ref = await storeText(vault, 987_655, TEXT)
  const looked = Promise.withResolvers<void>()
  const isUnused = Promise.withResolvers<boolean>()
  const deleting = vault.deleteUnusedSecret(ref, () => {
    looked.resolve()
    return isUnused.promise
  })
  await looked.promise
  // The event is recorded after the look for it, and before the deletion.
  const isStored = vault.hasSecret(ref)
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock'
    and datname = current_database() and query like '%vault.secrets%for key share%'`
  await expect.poll(async () => (await pg.query(waiting)).rowCount).toBe(1)
  isUnused.resolve(true)
  await deleting
  expect(await isStored).toBe(false)
})

it('a text that was restored does not replace a text that another process has set', async () => {
  const id = await send()
  const { actors, vault, log, now } = fixture.core
  const text = { format: 'plain', textRef: 'deleted before' } as const
  const context = { actor: 'system:test', cause: 'restore', at: now() }
  const recorded = { messageId: id, text, content: TEXT }
  expect(await restoreDeletedText({ actors, vault, log }, recorded, context)).toBeNull()
  expect(await contentOf(id)).toBe('kept')
})
