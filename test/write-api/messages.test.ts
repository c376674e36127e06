import { beforeAll, describe, expect, it } from 'vitest'
import { messages as messagesProjection } from '#projections/messages/projection.ts'
import { recipientsOf } from '#projections/messages/query.ts'
import { rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import type {
  AdminMessage,
  InboxMessage,
  Recipient,
  UnreadCount,
} from '#read-api/contract/messages.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type Caller, fifty, PASSWORD, seededFixture } from './write-fixture.ts'

type List<T> = { readonly items: T[]; readonly page: number; readonly total: number }
type Sent = { readonly id: number; readonly total_recipients: number }

const fixture = startedOnce(seededFixture)
let user2: Caller

beforeAll(async () => {
  await makeUser('user2')
  user2 = (await fixture.logIn('user2')).call
})

async function makeUser(username: string): Promise<number> {
  const body = { username, password: PASSWORD }
  return (await fixture.root.call<{ id: number }>('POST', '/api/user/', { body })).data.id
}

const english = { 'accept-language': 'en' }
const send = (body: object, call = fixture.admin.call) =>
  call<Sent>('POST', '/api/admin/messages', { body: { title: 'Hello', content: 'World', ...body } })
const sendTo = async (...user_ids: number[]): Promise<number> => (await send({ user_ids })).data.id
const edit = (id: number, body: object, call = fixture.admin.call) =>
  call('PUT', `/api/admin/messages/${id}`, { body })
const remove = (id: number, call = fixture.admin.call) =>
  call('DELETE', `/api/admin/messages/${id}`)
const sent = (id: number) => fixture.admin.call<AdminMessage>('GET', `/api/admin/messages/${id}`)
const listed = async (query = '') =>
  (await fixture.admin.call<List<AdminMessage>>('GET', `/api/admin/messages${query}`)).data
const recipients = async (id: number, query = '') =>
  (await fixture.admin.call<List<Recipient>>('GET', `/api/admin/messages/${id}/recipients${query}`))
    .data
const inbox = async (call: Caller, query = '') =>
  (await call<List<InboxMessage>>('GET', `/api/user/messages${query}`)).data
const read = (call: Caller, id: number) => call('PUT', `/api/user/messages/${id}/read`)
const unread = async (call: Caller): Promise<number> =>
  (await call<UnreadCount>('GET', '/api/user/messages/unread_count')).data.unread_count

describe('sending a message', () => {
  it('puts the trimmed text into the inboxes of the selected users only', async () => {
    const before = await unread(fixture.user.call)
    const answer = await send({
      title: '  Maintenance ',
      content: ' **Tonight**\n',
      user_ids: [3, 3],
    })
    expect(answer).toMatchObject({ status: 200, success: true, data: { total_recipients: 1 } })
    const { id } = answer.data
    const [first] = (await inbox(fixture.user.call)).items
    expect(first).toEqual({
      ...{ id, title: 'Maintenance', content: '**Tonight**', format: 'markdown' },
      ...{ created_at: expect.any(Number), read_at: null, is_read: false },
    })
    expect(await unread(fixture.user.call)).toBe(before + 1)
    expect(await unread(user2)).toBe(0)
    expect((await user2('GET', `/api/user/messages/${id}`)).status).toBe(404)
    expect((await fixture.user.call('GET', `/api/user/messages/${id}`)).data).toEqual(first)
    expect((await sent(id)).data).toMatchObject({
      stats: { total_recipients: 1, read_count: 0 },
      updated_at: null,
    })
  })

  it('reaches a group or all current users: banned ones, no deleted or later ones', async () => {
    const [banned, gone] = [await makeUser('banned1'), await makeUser('gone1')]
    const manage = (id: number, action: string) =>
      fixture.root.call('POST', '/api/user/manage', { body: { id, action } })
    await manage(banned, 'disable')
    await manage(gone, 'delete')
    await fixture.root.call('PUT', '/api/user/', { body: { id: 3, group: 'vip' } })
    expect((await send({ groups: ['vip'] })).data.total_recipients).toBe(1)
    const { id, total_recipients } = (await send({ everybody: true, user_ids: [3] })).data
    await makeUser('later1')
    const { items, total } = await recipients(id, '?page_size=100')
    expect(total).toBe(total_recipients)
    const ids = items.map(({ user_id }) => user_id)
    expect(ids).toContain(banned)
    expect(ids).not.toContain(gone)
    expect(items).toHaveLength(total)
    expect(items[2]).toEqual({
      user_id: 3,
      username: 'user1',
      display_name: 'user1',
      read_at: null,
    })
    const later = await fixture.logIn('later1')
    expect((await inbox(later.call)).total).toBe(0)
  })

  it('is refused without title, content or recipient, and names unknown recipients', async () => {
    const head = await fixture.head()
    const code = async (body: object) => (await send(body)).code
    expect(await code({ title: '  ', user_ids: [3] })).toBe('MessageTitleRequired')
    expect(await code({ content: '\n', user_ids: [3] })).toBe('MessageContentRequired')
    expect(await code({})).toBe('RecipientRequired')
    expect(await code({ groups: ['svip'] })).toBe('RecipientRequired')
    expect(await send({ groups: ['vip', 'nobody-is-here'], user_ids: [3] })).toMatchObject({
      ...{ status: 400, code: 'InvalidField' },
      message: '参数 groups 无效：分组「nobody-is-here」不存在',
    })
    expect(await send({ user_ids: [3, 998, 999] })).toMatchObject({
      ...{ success: false, code: 'RecipientUnknown', message: '用户不存在：998, 999' },
    })
    const bad = { body: { title: 't', content: 'c', format: 'rtf' }, headers: english }
    const answer = await fixture.admin.call('POST', '/api/admin/messages', bad)
    expect(answer.status).toBe(400)
    expect(answer.message).toContain('format')
    const long = await send({ content: 'x'.repeat(20_001), user_ids: [3] })
    expect(long.status).toBe(400)
    expect(await fixture.head()).toBe(head)
  })

  it('creates fifty messages with distinct ids from fifty concurrent requests', async () => {
    const ids = await fifty(() => sendTo(3))
    expect(new Set(ids).size).toBe(50)
  })
})

describe('the list of sent messages', () => {
  it('has pages, newest first, and a search by title, content and time', async () => {
    const id = (await send({ title: '50% off', content: 'needle_x', user_ids: [3] })).data.id
    const at = (await sent(id)).data.created_at * 1_000
    const page = await listed('?p=1&page_size=10')
    expect(page).toMatchObject({ page: 1 })
    expect(page.items).toHaveLength(10)
    const ids = [...(await listed('?p=0&page_size=10')).items, ...page.items].map((row) => row.id)
    expect(ids).toEqual(ids.toSorted((one, other) => other - one))
    const found = async (query: object) => {
      const text = new URLSearchParams(Object.entries(query)).toString()
      return (await listed(`/search?${text}`)).items.map((row) => row.id)
    }
    expect(await found({ keyword: ' 50% ' })).toEqual([id])
    expect(await found({ keyword: 'NEEDLE_' })).toEqual([id])
    expect(await found({ keyword: 'needlexx' })).toEqual([])
    const iso = (offset: number) => new Date(at + offset).toISOString()
    expect(await found({ keyword: '50%', start_date: iso(0), end_date: iso(1_000) })).toEqual([id])
    expect(await found({ keyword: '50%', start_date: iso(1_000) })).toEqual([])
    expect(await found({ keyword: '50%', end_date: iso(-1_000) })).toEqual([])
    const day = iso(0).slice(0, 10)
    expect(await found({ keyword: '50%', start_date: day, end_date: day })).toEqual([id])
    const bad = await fixture.admin.call('GET', '/api/admin/messages/search?start_date=yesterday')
    expect(bad).toMatchObject({ status: 400, code: 'InvalidField' })
    expect(bad.message).toContain('start_date')
  })

  it('is for admins only, as are all requests about it', async () => {
    const id = await sendTo(3)
    const { call } = fixture.user
    for (const path of ['', '/search', `/${id}`, `/${id}/recipients`]) {
      expect((await call('GET', `/api/admin/messages${path}`)).status, path).toBe(403)
      expect((await fixture.root.call('GET', `/api/admin/messages${path}`)).status).toBe(200)
    }
    for (const answer of [await send({ user_ids: [3] }, call), await remove(id, call)]) {
      expect(answer.status).toBe(403)
    }
    expect((await edit(id, { title: 'x', content: 'y' }, call)).status).toBe(403)
    for (const path of ['', '/recipients']) {
      const answer = await fixture.admin.call('GET', `/api/admin/messages/999999${path}`)
      expect(answer).toMatchObject({ status: 404, message: '消息不存在' })
    }
  })
})

describe('reading a message', () => {
  it('counts once per user, however many requests come at once', async () => {
    const { id } = (await send({ everybody: true })).data
    const calls = [fixture.user.call, user2, fixture.admin.call, fixture.root.call]
    const before = await Promise.all(calls.map(unread))
    const answers = await fifty((n) => read(calls[n % calls.length] as Caller, id))
    expect(answers.every(({ success }) => success)).toBe(true)
    expect(await Promise.all(calls.map(unread))).toEqual(before.map((count) => count - 1))
    expect((await sent(id)).data.stats.read_count).toBe(calls.length)
    const marks = (await recipients(id, '?page_size=100')).items.filter(
      (row) => row.read_at !== null,
    )
    expect(marks.map(({ user_id }) => user_id)).toEqual([1, 2, 3, 4])
    const [own] = (await inbox(user2)).items
    expect(own).toMatchObject({ id, is_read: true, read_at: expect.any(Number) })
    const head = await fixture.head()
    expect((await read(user2, id)).success).toBe(true)
    expect(await fixture.head()).toBe(head)
  })

  it('is limited to the user’s messages; those of others are answered as unknown', async () => {
    const id = await sendTo(3)
    const head = await fixture.head()
    for (const other of [id, 999_999]) {
      const answer = await read(user2, other)
      const unknown = { status: 404, code: 'MessageUnknown', message: '消息不存在' }
      expect(answer).toMatchObject(unknown)
      const shown = await user2('GET', `/api/user/messages/${other}`)
      expect(shown).toMatchObject({ status: 404, message: '消息不存在' })
    }
    expect((await fixture.admin.call('PUT', '/api/user/messages/x/read')).status).toBe(400)
    expect(await fixture.head()).toBe(head)
  })
})

describe('editing and deleting messages', () => {
  it('an edit leaves the message read for its users; an equal edit writes nothing', async () => {
    const id = await sendTo(3, 4)
    await read(user2, id)
    const body = { title: 'New', content: '<b>text</b>', format: 'html' }
    expect((await edit(id, body)).success).toBe(true)
    const [one] = (await inbox(user2)).items
    expect(one).toMatchObject({ id, ...body, is_read: true })
    expect((await sent(id)).data.updated_at).toEqual(expect.any(Number))
    const head = await fixture.head()
    expect((await edit(id, { title: ' New ', content: '<b>text</b>' })).success).toBe(true)
    expect(await fixture.head()).toBe(head)
    expect(await edit(id, { title: '', content: 'x' })).toMatchObject({ success: false })
    expect(await edit(999_999, body)).toMatchObject({ status: 404, code: 'MessageUnknown' })
    await fifty((n) => edit(id, { title: `New ${n}`, content: 'x' }))
    expect((await sent(id)).data.title).toMatch(/^New \d+$/)
    expect(await textsOf(id)).toBe(1)
  })

  it('a deletion removes the message from inboxes, counts and the rebuilt read model', async () => {
    const before = [await unread(fixture.user.call), await unread(user2)]
    const { total } = await listed()
    const id = (await send({ title: 'canary-of-a-message', user_ids: [3, 4] })).data.id
    await read(user2, id)
    expect((await remove(id)).success).toBe(true)
    expect([await unread(fixture.user.call), await unread(user2)]).toEqual(before)
    expect((await inbox(fixture.user.call)).items.map((row) => row.id)).not.toContain(id)
    expect((await listed()).total).toBe(total)
    for (const path of [`/api/admin/messages/${id}`, `/api/admin/messages/${id}/recipients`]) {
      expect((await fixture.admin.call('GET', path)).status).toBe(404)
    }
    // No receipts of the message remain, for any caller.
    const firstRows = { limit: 10, offset: 0, sort: 'user_id', isDescending: false } as const
    expect(await recipientsOf(fixture.core.db, id, firstRows)).toEqual([])
    expect((await read(fixture.user.call, id)).status).toBe(404)
    expect((await remove(id)).status).toBe(404)
    expect(await textsOf(id)).toBe(0)
    await rebuildReadModels(fixture.core, [messagesProjection], foldContext(fixture.core))
    expect((await listed('/search?keyword=canary-of-a-message')).total).toBe(0)
    expect((await listed()).total).toBe(total)
  })

  it('a text that cannot be decrypted is empty and does not block other messages', async () => {
    const id = await sendTo(3)
    await fixture.core.pg.query(
      `update vault.secrets set sealed = '\\x00'::bytea || sealed where owner = 'message:' || $1`,
      [id],
    )
    await rebuildReadModels(fixture.core, [messagesProjection], foldContext(fixture.core))
    expect((await sent(id)).data).toMatchObject({ title: '', content: '' })
    expect((await sent(await sendTo(3))).data.title).toBe('Hello')
    expect((await remove(id)).success).toBe(true)
  })

  it('an erasure deletes messages sent only to that user, and keeps shared ones', async () => {
    const id = await makeUser('leaver1')
    const [own, shared] = [await sendTo(id), await sendTo(id, 3)]
    const byAdmin = (await send({ title: 'By the erased', user_ids: [3] }, fixture.root.call)).data
    const body = { id, username: 'leaver1' }
    expect((await fixture.root.call('POST', '/api/user/erase', { body })).success).toBe(true)
    expect((await sent(own)).status).toBe(404)
    expect((await sent(byAdmin.id)).data.title).toBe('By the erased')
    const [, gone] = (await recipients(shared)).items
    expect(gone).toEqual({ user_id: id, username: '', display_name: '', read_at: null })
    expect(await textsOf(own)).toBe(0)
  })

  it('no event has the text of a message, and the read model equals their fold', async () => {
    const { rowCount } = await fixture.core.pg.query(
      "select from event_store.events where data ~ 'canary-of-a-message|Maintenance'",
    )
    expect(rowCount).toBe(0)
    expect(await fixture.isFold('messages')).toBe(true)
  })
})

/** Returns how many texts the vault stores for a message. */
async function textsOf(id: number): Promise<number> {
  const text = 'select from vault.secrets where owner = $1'
  return (await fixture.core.pg.query(text, [`message:${id}`])).rowCount ?? 0
}
