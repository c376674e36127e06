import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { removeUnusedTexts } from '#write-api/messages/remove-unused-texts.ts'
import { storeText } from '#write-api/messages/send-message.ts'
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
