import { describe, expect, it } from 'vitest'
import { changesBetween } from '#console/features/audit/history/object-history.ts'
import type { RawEvent, StateAsOf } from '#read-api/contract/time-travel.ts'
import { en, TEXTS } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot, openByLink, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeCall, ok } from '../support/fake-site.ts'
import { AUDITOR_USER, NOW } from './audit-samples.ts'

type Version = { position: number; type: string; state: Record<string, unknown> }

/** Three versions of channel 3, oldest first. */
const VERSIONS: readonly Version[] = [
  { position: 40, type: 'ChannelCreated', state: { name: 'main', models: 'gpt-4o', weight: 1 } },
  { position: 90, type: 'ChannelUpdated', state: { name: 'main', models: 'gpt-4o,o3', weight: 1 } },
  { position: 95, type: 'ChannelUpdated', state: { name: 'main', models: 'gpt-4o,o3', weight: 5 } },
]

function stateAt({ query }: FakeCall) {
  const at = query.get('at') ?? ''
  const limit = /^\d+$/.test(at) ? Number(at) : at === '' ? Number.MAX_SAFE_INTEGER : 92
  const version = VERSIONS.findLast(({ position }) => position <= limit)
  if (version === undefined) {
    return { status: 404, body: { success: false, message: 'unknown', code: 'ObjectUnknown' } }
  }
  const { position, type, state } = version
  return ok({
    ...{ position, at: NOW - 100, kind: 'channel', id: '3', state, is_deleted: false },
    last_change: {
      ...{ position, revision: position, type, created_at: NOW - 100 },
      ...{ actor: 'user:1', actor_name: 'root' },
    },
  } satisfies StateAsOf)
}

const event = (position: number, patch: Partial<RawEvent> = {}): RawEvent => ({
  ...{ position, stream: 'channels', revision: position, id: `event-${position}`, v: 1 },
  ...{ type: 'ChannelUpdated', at: (NOW - 100) * 1_000, actor: 'user:1', cause: null },
  ...{ data: { channelId: 3, terms: { weight: 5 } }, ...patch },
})

/** More values than the page shows at first. */
const OPTIONS: StateAsOf = {
  ...{ position: 95, at: NOW, kind: 'options', id: 'site', is_deleted: false, last_change: null },
  state: Object.fromEntries(
    Array.from({ length: 31 }, (_, n) => [`Option${n}`, n === 30 ? 'mail.example' : String(n)]),
  ),
}

const app = pageFixture({
  isSiteShared: true,
  startSite: () =>
    startAdminSite({
      'GET /api/audit/state/channel/3': stateAt,
      'GET /api/audit/state/options/site': () => ok(OPTIONS),
      'GET /api/audit/events': ({ query }) => {
        const after = Number(query.get('after') ?? 0)
        const isFirst = after === 0
        const items = Array.from({ length: isFirst ? 50 : 3 }, (_, n) => event(after + n + 1))
        return ok({ items, next_cursor: isFirst ? String(items.at(-1)?.position) : null })
      },
    }),
})
const changes = () =>
  app.page.getByRole('region', { name: en('audit.history.changes') }).getByRole('listitem')

describe.each(LANGUAGES)('the pages of the history in %s', (language) => {
  it('have no accessibility fault', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, '/app/audit/history?object=channel:3')
    await page.getByText('ChannelCreated').waitFor()
    expect(await lookFaults(page, `audit-history-${language}`)).toEqual([])
    await openByLink(page, app.site, '/app/audit/history')
    await page.getByText('Option0').waitFor()
    expect(await lookFaults(page, `audit-history-options-${language}`)).toEqual([])
    await openByLink(page, app.site, '/app/audit/events?range=24h')
    await page.getByRole('button', { name: t('audit.loadMore') }).waitFor()
    expect(await lookFaults(page, `audit-events-${language}`)).toEqual([])
  })
})

it('stored events of a fixed range include those within its last second', async () => {
  await app.openAsRoot('/app/audit/events?range=1700000000-1700003599')
  const to = () => app.calls('GET /api/audit/events').at(-1)?.query.get('to')
  await expect.poll(to).toBe(new Date(1_700_003_599_999).toISOString())
})

describe('the history of an object', () => {
  it('lists each change with the values before and after, down to the creation', async () => {
    await app.openAsRoot('/app/audit/history?object=channel:3')
    await expect.poll(() => changes().count()).toBe(3)
    const rows = (index: number) => changes().nth(index).getByRole('row')
    await expect
      .poll(() => rows(0).last().getByRole('cell').allTextContents())
      .toEqual(['weight', '1', '5'])
    await expect
      .poll(() => rows(1).last().getByRole('cell').allTextContents())
      .toEqual([...['models', 'gpt-4o', 'gpt-4o,o3']])
    await expect.poll(() => changes().nth(2).textContent()).toContain('ChannelCreated')
    expect(await changes().nth(0).getByText('root', { exact: true }).count()).toBe(1)
  })

  it('compares the first change of an option with the built-in values', async () => {
    const builtIn = { ModelRatio: '{"gpt-4o":1.25,"o3":1}' }
    const state = { ModelRatio: '{"gpt-4o":1.5,"o3":1}' }
    const change = {
      ...{ position: 9, revision: 0, type: 'OptionSet', created_at: NOW },
      ...{ actor: 'user:1', actor_name: 'root' },
    }
    const prices = { kind: 'prices', id: 'site', at: NOW, is_deleted: false }
    app.site.routes['GET /api/audit/state/prices/site'] = ({ query }) =>
      query.get('at') === '8'
        ? ok({ ...prices, position: 0, state: {}, built_in: {}, last_change: null })
        : ok({ ...prices, position: 9, state, built_in: builtIn, last_change: change })
    await app.openAsRoot('/app/audit/history?object=prices:site')
    await expect.poll(() => changes().count()).toBe(1)
    const rows = changes().first().getByRole('row')
    await expect.poll(() => rows.count()).toBe(2)
    await expect
      .poll(() => rows.last().getByRole('cell').allTextContents())
      .toEqual(['ModelRatio › gpt-4o', '1.25', '1.5'])
  })

  it('shows the state of an earlier moment, which is in the address', async () => {
    await app.openAsRoot('/app/audit/history?object=channel:3')
    await expect.poll(() => changes().count()).toBe(3)
    await app.page.getByLabel(en('audit.asOf')).fill('2026-01-02T03:04')
    await app.page.getByRole('heading', { name: en('audit.history.stateAtTime') }).waitFor()
    await app.page.getByRole('table', { name: en('audit.history.stateAtTime') }).waitFor()
    await expect.poll(() => changes().count()).toBe(2)
    expect(new URL(app.page.url()).searchParams.get('at')).toMatch(/^2026-01-0\d.*:59\.999Z$/)
    await app.page.getByRole('button', { name: en('shared.backToNow') }).click()
    await expect.poll(() => changes().count()).toBe(3)
  })

  it('shows the first values of a long state, all on request, or those of a filter', async () => {
    await app.openAsRoot('/app/audit/history')
    const table = app.page.getByRole('table', { name: en('audit.history.now') })
    const values = async () => (await table.getByRole('row').count()) - 1
    await expect.poll(values).toBe(20)
    const all = en('audit.history.showAll', { number: '31' })
    await app.page.getByRole('button', { name: all }).click()
    await expect.poll(values).toBe(31)
    const filter = app.page.getByRole('textbox', { name: en('audit.history.filter') })
    await filter.fill('MAIL')
    await filter.press('Enter')
    await expect.poll(values).toBe(1)
    await expect.poll(() => table.textContent()).toContain('Option30')
    expect(new URL(app.page.url()).searchParams.get('filter')).toBe('MAIL')
    await filter.fill('nothing like it')
    await filter.press('Enter')
    await app.page.getByText(en('audit.history.noMatch')).waitFor()
    await filter.fill('')
    await expect.poll(values).toBe(20)
  })

  it('is linked from the menu of a channel', async () => {
    await app.openAsRoot('/admin/channels')
    await app.page
      .getByRole('button', { name: /OpenAI/ })
      .last()
      .click()
    await app.page.getByRole('menuitem', { name: en('shared.history') }).click()
    await app.page.waitForURL('**/app/audit/history?object=channel%3A*')
  })
})

describe('the list of events', () => {
  it('appends the next events, and shows the stored data of one', async () => {
    await app.openAsRoot('/app/audit/events')
    await app.page.getByRole('button', { name: en('audit.loadMore') }).click()
    const grid = app.page.getByRole('grid', { name: en('shell.events') })
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('54')
    await grid.getByRole('row').nth(1).click()
    await app.page.getByText('"weight": 5').waitFor()
  })

  it('names each event, beside the type that a verifier sees', async () => {
    const route = app.site.routes['GET /api/audit/events']
    const types = ['QuotaGranted', 'CallSettled', 'EventOfALaterVersion']
    app.site.routes['GET /api/audit/events'] = () =>
      ok({ items: types.map((type, n) => event(n + 1, { type })), next_cursor: null })
    await app.openAsRoot('/app/audit/events')
    const rows = app.page.getByRole('grid', { name: en('shell.events') }).getByRole('row')
    const texts = async () => (await rows.allTextContents()).slice(1)
    await expect
      .poll(texts)
      .toEqual([
        expect.stringContaining(`${en('auditActs.quota-granted')}QuotaGranted`),
        expect.stringContaining(`${en('auditEvents.call-settled')}CallSettled`),
        expect.stringContaining('EventOfALaterVersionEventOfALaterVersion'),
      ])
    const filter = app.page.getByRole('combobox', { name: en('audit.events.type') })
    await filter.fill(en('auditEvents.call-settled'))
    await filter.press('Enter')
    const asked = () => app.calls('GET /api/audit/events').at(-1)?.query.get('type')
    await expect.poll(asked).toBe('CallSettled')
    expect(new URL(app.page.url()).searchParams.get('type')).toBe('CallSettled')
    await filter.fill('TopUpPaid')
    await filter.press('Enter')
    await expect.poll(asked).toBe('TopUpPaid')
    await expect.poll(() => filter.inputValue()).toBe(en('auditActs.top-up-paid'))
    if (route !== undefined) app.site.routes['GET /api/audit/events'] = route
  })

  it('sends its filters', async () => {
    await app.openAsRoot('/app/audit/events?stream=account-7&type=QuotaGranted&actor=user:1&user=7')
    await app.page.getByRole('grid').waitFor()
    const query = app.calls('GET /api/audit/events').at(-1)?.query
    expect(query?.get('stream')).toBe('account-7')
    expect(query?.get('type')).toBe('QuotaGranted')
    expect(query?.get('actor')).toBe('user:1')
    expect(query?.get('user_id')).toBe('7')
    expect(query?.get('from')).toMatch(/^\d{4}-.*Z$/)
  })
})

describe('the navigation of an auditor', () => {
  it('has the audit section and no page for admins', async () => {
    await app.page.addInitScript(
      (user) => localStorage.setItem('user', user),
      JSON.stringify(AUDITOR_USER),
    )
    await app.page.goto(`${app.site.url}/app/audit/history?object=channel:3`)
    await expect.poll(() => changes().count()).toBe(3)
    const links = await app.page
      .getByRole('navigation', { name: en('shell.navigation') })
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    expect(links.filter((href) => href.startsWith('/admin/'))).toEqual([])
    expect(links).toContain('/app/audit/proofs')
    expect(links).toContain('/app/calls')
  })

  it('is closed to a normal user', async () => {
    await app.page.addInitScript(
      (user) => localStorage.setItem('user', user),
      JSON.stringify({ ...AUDITOR_USER, role: 1 }),
    )
    await app.page.goto(`${app.site.url}/app/audit/history?object=channel:3`)
    await app.page.getByText(en('audit.auditorsOnly')).waitFor()
    await expect
      .poll(() => app.page.getByText(en('shell.sectionAudit'), { exact: true }).count())
      .toBe(0)
  })
})

describe('the changes between two states', () => {
  it('name members of JSON texts, such as price tables', () => {
    const before = { ModelRatio: '{"a":1,"b":2}', Notice: 'hi' }
    const after = { ModelRatio: '{"a":1,"b":3,"c":4}', Notice: 'hi' }
    expect(changesBetween(before, after)).toEqual([
      { name: 'ModelRatio › b', before: '2', after: '3' },
      { name: 'ModelRatio › c', before: null, after: '4' },
    ])
  })

  it('list all values of a new object, and leave out empty ones', () => {
    expect(changesBetween(null, { name: 'x', tag: '', keys: [], limit: 0, note: null })).toEqual([
      { name: 'limit', before: null, after: '0' },
      { name: 'name', before: null, after: 'x' },
    ])
  })

  it('keep a text that only looks like JSON', () => {
    expect(changesBetween({ text: '{a' }, { text: '{b' })).toEqual([
      { name: 'text', before: '{a', after: '{b' },
    ])
  })
})

it('the price of a model is shown as of a moment, with who set it', async () => {
  const { site } = app
  const state = { ModelRatio: '{"gpt-4o":1.25}' }
  site.routes['GET /api/audit/state/prices/site'] = () =>
    ok({
      position: 40,
      at: NOW,
      kind: 'prices',
      id: 'site',
      state,
      is_deleted: false,
      last_change: null,
    })
  site.routes['GET /api/audit/prices'] = ({ query }) =>
    ok({
      ...{ position: 40, at: NOW, model: query.get('model'), group: query.get('group') },
      price: query.get('model') === 'gpt-4o' ? { mode: 'tokens', model: '1.25' } : null,
      in_force: [
        {
          ...{ option: 'ModelRatio', name: 'gpt-4o', value: '1.25', position: 12 },
          ...{ set_at: NOW - 900, set_by: { id: 1, name: 'root' } },
        },
      ],
    })
  await app.openAsRoot('/app/audit/history?object=prices:site&at=40')
  const model = app.page.getByRole('textbox', { name: en('ui.model') })
  await model.fill('gpt-4o')
  await model.press('Enter')
  const table = app.page.getByRole('table', { name: en('audit.call.prices') })
  await table.getByRole('cell', { name: 'root' }).waitFor()
  expect(app.calls('GET /api/audit/prices').at(-1)?.query.get('at')).toBe('40')
  expect(await lookFaults(app.page, 'audit-price')).toEqual([])
  await model.fill('unknown')
  await model.press('Enter')
  await app.page.getByText(en('audit.history.noPrice')).waitFor()
})
