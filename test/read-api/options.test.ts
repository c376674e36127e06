import { describe, expect, it } from 'vitest'
import { OPTIONS } from '#domain/options/option-registry.ts'
import type { OptionChange, OptionsSchema } from '#read-api/contract/options.ts'
import { pageSources } from '#read-api/register-read-api.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from '#test/write-api/write-fixture.ts'

type ChangePage = { items: OptionChange[]; page: number; total: number }

const fixture = startedOnce(seededFixture)

const put = (key: string, value: string, call = fixture.root.call) =>
  call('PUT', '/api/option/', { body: { key, value } })
const history = async (query: string, call = fixture.admin.call): Promise<ChangePage> =>
  (await call<ChangePage>('GET', `/api/option/history?${query}`)).data

describe('GET /api/option/schema', () => {
  it('returns everything that a form needs to know about each option', async () => {
    const { data } = await fixture.admin.call<OptionsSchema>('GET', '/api/option/schema')
    expect(data.options.map(({ key }) => key)).toEqual([...OPTIONS.keys()])
    expect(data.options.find(({ key }) => key === 'gemini.version_settings')).toMatchObject({
      tab: 'models',
      section: 'gemini',
      type: { kind: 'choice-by-name', choices: ['v1', 'v1beta', 'v1alpha'] },
      default: '{}',
      is_secret: false,
      minimum_role: 10,
      note: null,
    })
    const share = data.options.find(({ key }) => key === 'RebatePercentage')
    expect(share?.type).toEqual({
      kind: 'decimal',
      minimum: '0',
      maximum: '100',
      is_optional: false,
    })
    expect(share?.bounds_words?.zh).toBe('返佣百分比必须在0到100之间')
    const ids = new Set(data.sections.map(({ id }) => id))
    expect(data.options.filter(({ section }) => !ids.has(section))).toEqual([])
  })

  it('returns the words of each option and section in both languages', async () => {
    const { data } = await fixture.admin.call<OptionsSchema>('GET', '/api/option/schema')
    const option = (name: string) => data.options.find(({ key }) => key === name)
    expect(option('PasswordLoginEnabled')).toMatchObject({
      label: { zh: '允许通过密码登录', en: 'Sign in with a password' },
      help: null,
      note: null,
      ask_before: { value: 'false', words: { en: expect.stringContaining('Turn it off?') } },
    })
    expect(option('DataExportDefaultTime')).toMatchObject({
      help: { en: expect.stringContaining('Its range follows') },
      choice_words: { day: { zh: '天', en: 'Day' } },
    })
    expect(data.sections.find(({ id }) => id === 'stripe')).toMatchObject({
      title: { zh: 'Stripe 支付', en: 'Stripe' },
      lead: { en: expect.stringContaining('/api/stripe/webhook') },
    })
    expect(data.sections.find(({ id }) => id === 'gemini')?.title.en).toBe('Gemini settings')
  })

  it('is for admins', async () => {
    for (const path of ['', 'schema', 'history']) {
      expect((await fixture.user.call('GET', `/api/option/${path}`)).status).toBe(403)
      expect((await fixture.anybody('GET', `/api/option/${path}`)).status).toBe(401)
      expect((await fixture.admin.call('GET', `/api/option/${path}`)).status).toBe(200)
    }
  })
})

describe('GET /api/option/history', () => {
  it('returns who changed an option and when, with both values, newest first', async () => {
    const from = Math.floor(fixture.core.now() / 1_000)
    await put('RetryTimes', '2')
    await put('RetryTimes', '3', fixture.admin.call)
    const { items, total, page } = await history('key=RetryTimes')
    expect({ total, page }).toEqual({ total: 2, page: 0 })
    expect(items.map(({ before, after, username }) => [before, after, username])).toEqual([
      ['2', '3', 'admin1'],
      ['0', '2', 'root'],
    ])
    expect(items[0]?.actor).toBe(`user:${fixture.admin.id}`)
    expect(items.every(({ changed_at }) => changed_at >= from)).toBe(true)
  })

  it('returns the changes of a section or of all options, page by page', async () => {
    await put('Logo', 'https://example.com/a.png')
    await put('SystemName', 'Gate')
    const { items } = await history('section=appearance')
    expect(items.map(({ key }) => key)).toEqual(['SystemName', 'Logo'])
    const [first, second] = [await history('page_size=1'), await history('page_size=1&p=1')]
    expect([first.items[0]?.key, second.items[0]?.key]).toEqual(['SystemName', 'Logo'])
    expect(second.page).toBe(1)
    expect(second.total).toBe(first.total)
    expect(await history('key=NoSuchOption')).toMatchObject({ items: [], total: 0 })
  })

  it('shows only whether a secret was set', async () => {
    for (const text of ['canary-one', 'canary-two', '']) await put('SMTPToken', text)
    const { items } = await history('key=SMTPToken', fixture.root.call)
    expect(items.map(({ before, after }) => [before, after])).toEqual([
      ['***', ''],
      ['***', '***'],
      ['', '***'],
    ])
    expect(JSON.stringify(items)).not.toContain('canary')
  })

  it('returns no user name for system actors, and null for an unrecorded old value', async () => {
    const event = {
      id: crypto.randomUUID(),
      type: 'OptionSet',
      v: 1,
      data: { key: 'Footer', value: 'old' },
      meta: { actor: 'system:setup', cause: null, at: 1_700_000_000_123 },
    }
    const part = { stream: 'options', expected: 'any' as const, events: [event] }
    const [position] = (await fixture.core.store.append([part])).streams[0]?.positions ?? []
    const { data } = await fixture.admin.call<ChangePage>('GET', '/api/option/history?key=Footer', {
      headers: { 'x-after-position': String(position) },
    })
    expect(data.items).toEqual([
      {
        id: position,
        key: 'Footer',
        before: null,
        after: 'old',
        actor: 'system:setup',
        username: '',
        planned_id: 0,
        changed_at: 1_700_000_000,
      },
    ])
  })

  it.each(['p=-1', 'p=x', 'page_size=0', 'page_size=101'])('refuses %s', async (query) => {
    const answer = await fixture.admin.call('GET', `/api/option/history?${query}`)
    expect(answer).toMatchObject({ status: 400, code: 'InvalidField' })
    expect(answer.message).toContain(query.split('=')[0])
  })
})

it('the console may frame the chat clients of the site, and nothing else', async () => {
  const frames = async () => (await pageSources(fixture.core)).frames
  expect(await frames()).toEqual([])
  const links = ['https://a.example/x?k={key}', 'cat://join?k={key}', 'https://{key}.b.example/']
  const chats = links.map((link, n) => ({ [`client ${n}`]: link }))
  expect((await put('Chats', JSON.stringify(chats))).success).toBe(true)
  await put('ChatLink', 'https://c.example:8443/chat')
  await put('ChatLink2', 'http://localhost:3000/')
  expect(await frames()).toEqual([
    'https://a.example',
    'https://c.example:8443',
    'http://localhost:3000',
  ])
})

it('the console may load provider media via TLS or localhost if the feature is on', async () => {
  const made = async () => {
    const { images, media } = await pageSources(fixture.core)
    return { images, media }
  }
  const elsewhere = ['https:', 'http://localhost:*', 'http://127.0.0.1:*']
  for (const [drawing, isForwarded, music] of [
    [false, true, false],
    [true, true, false],
    [true, false, false],
    [false, true, true],
  ]) {
    await put('DrawingEnabled', String(drawing))
    await put('MjForwardUrlEnabled', String(isForwarded))
    await put('TaskEnabled', String(music))
    expect(await made()).toEqual({
      images: (drawing && !isForwarded) || music ? elsewhere : [],
      media: music ? elsewhere : [],
    })
  }
})
