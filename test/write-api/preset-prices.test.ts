import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtInRatios } from '#domain/pricing/built-in-prices.ts'
import { isOpenRouterName } from '#domain/pricing/openrouter-aliases.ts'
import { DEFAULT_OUTPUT_CAPS } from '#domain/pricing/output-limits-by-model.ts'
import type { PresetRatios } from '#read-api/contract/options.ts'
import type { Status } from '#read-api/contract/status.ts'
import { type SeededFixture, seededFixture } from './write-fixture.ts'

let fixture: SeededFixture
let server: Server
let answers: Record<string, string>
/** The dates of the last change, by path. */
let changed: Record<string, string> = {}
const requests: string[] = []

beforeAll(async () => {
  fixture = await seededFixture()
  server = createServer(({ url = '' }, response) => {
    requests.push(url)
    const text = answers[url]
    const date = changed[url]
    response.writeHead(text === undefined ? 404 : 200, {
      'content-type': 'application/json',
      ...(date === undefined ? {} : { 'last-modified': date }),
    })
    response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  await fixture.close()
})

const put = (key: string, value: string) =>
  fixture.root.call('PUT', '/api/option/', { body: { key, value } })
const preset = (source: string, call = fixture.admin.call) =>
  call<PresetRatios>('GET', `/api/option/preset_ratios?source=${source}`)
const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/lists`

describe('preset ratios', () => {
  it.each(['flexible', 'openrouter'])(
    'are shipped for %s, as exact decimals, with both ratios for each model',
    async (source) => {
      const { data } = await preset(source)
      expect(data).toMatchObject({
        source,
        origin: 'shipped',
        as_of: '2026-11-27',
        older: { as_of: '2025-10' },
        price_source: expect.stringContaining('Anthropic'),
        is_fetch_failed: false,
      })
      expect(Object.keys(data.prompt).length).toBeGreaterThan(30)
      expect(Object.keys(data.prompt)).toEqual(Object.keys(data.completion))
      const ratios = [...Object.values(data.prompt), ...Object.values(data.completion)]
      expect(ratios.filter((ratio) => !/^\d+(\.\d{1,30})?$/.test(ratio))).toEqual([])
      const caps = Object.entries(data.max_output)
      expect(caps.length).toBeGreaterThan(30)
      expect(caps.filter(([model]) => data.prompt[model] === undefined)).toEqual([])
      const differing = caps.filter(
        ([model, cap]) => (DEFAULT_OUTPUT_CAPS.get(model) ?? Number(cap)) !== Number(cap),
      )
      expect(differing).toEqual([])
    },
  )

  it.each([
    ['flexible', 'gpt-6.2-astra', '4', '5'],
    ['flexible', 'mistral-medium-latest', '0.75', '5'],
    ['openrouter', 'anthropic/claude-opus-5.5', '2', '5'],
  ])('have the built-in prices in %s, such as that of %s', async (source, model, ratio, times) => {
    const { data } = await preset(source)
    expect([data.prompt[model], data.completion[model]]).toEqual([ratio, times])
    expect(data.older?.models).not.toContain(model)
  })

  it.each([
    ['flexible', (model: string) => !isOpenRouterName(model)],
    ['openrouter', isOpenRouterName],
  ])('never undercut the built-in prices in %s', async (source, isNamed) => {
    const { data } = await preset(source)
    const ratios = [
      [data.prompt, builtInRatios('ModelRatio')],
      [data.completion, builtInRatios('CompletionRatio')],
    ] as const
    for (const [list, builtIn] of ratios) {
      const expected = [...builtIn].filter(([model]) => isNamed(model))
      expect(expected.length).toBeGreaterThan(10)
      expect(Object.entries(list).filter(([model]) => builtIn.has(model))).toHaveLength(
        expected.length,
      )
      for (const [model, ratio] of expected) expect([model, list[model]]).toEqual([model, ratio])
    }
    const models = [...Object.keys(data.prompt)]
    const checked = models.filter((model) => builtInRatios('ModelRatio').has(model))
    expect(data.older?.models.toSorted()).toEqual(
      models.filter((model) => !checked.includes(model)).toSorted(),
    )
  })

  it('have only completion ratios for legacy', async () => {
    const { data } = await preset('legacy')
    expect(data).toMatchObject({ as_of: '2025-10', older: null, prompt: {}, max_output: {} })
    expect(data.completion['claude-2']).toBe('3')
  })

  it('are fetched from the configured address, with unchanged decimals', async () => {
    answers = {
      '/lists/flexible/prompt.json': '{"fetched":0.123456789012345678}',
      '/lists/flexible/completion.json': '{"fetched":4.0}',
      '/lists/flexible/max_output.json': '{"fetched":16384}',
      '/lists/legacy/completion.json': '{}',
    }
    await put('PresetRatioUrl', `${base()}/`)
    expect((await preset('flexible')).data).toEqual({
      source: 'flexible',
      origin: 'fetched',
      as_of: '',
      older: null,
      price_source: new URL(base()).host,
      is_fetch_failed: false,
      prompt: { fetched: '0.123456789012345678' },
      completion: { fetched: '4.0' },
      max_output: { fetched: '16384' },
    })
    requests.length = 0
    expect((await preset('legacy')).data).toMatchObject({ origin: 'fetched', prompt: {} })
    expect(requests).toEqual(['/lists/legacy/completion.json'])
  })

  it('have the date of the oldest fetched list, or none if a list has none', async () => {
    const [path, other] = ['/lists/flexible/prompt.json', '/lists/flexible/completion.json']
    answers = { [path]: '{"fetched":1}', [other]: '{"fetched":2}' }
    changed = { [path]: 'Sat, 21 Nov 2026 10:00:00 GMT', [other]: 'Mon, 02 Nov 2026 10:00:00 GMT' }
    expect((await preset('flexible')).data.as_of).toBe('2026-11-02')
    for (const unknown of ['yesterday', '']) {
      changed = { ...changed, [other]: unknown }
      expect((await preset('flexible')).data.as_of).toBe('')
    }
    changed = {}
  })

  it('are fetched from an address without output limits, but not with invalid ones', async () => {
    const lists = {
      '/lists/flexible/prompt.json': '{"fetched":1}',
      '/lists/flexible/completion.json': '{}',
    }
    answers = lists
    expect((await preset('flexible')).data).toMatchObject({ origin: 'fetched', max_output: {} })
    for (const wrong of ['{"fetched":1.5}', '{"fetched":0}', '[]']) {
      answers = { ...lists, '/lists/flexible/max_output.json': wrong }
      expect((await preset('flexible')).data, wrong).toMatchObject({ is_fetch_failed: true })
    }
  })

  it.each([
    ['is missing', undefined],
    ['is no JSON', '<html>'],
    ['is no map of decimals', '{"a":"1"}'],
    ['has a ratio below 0', '{"a":-1}'],
    ['has a ratio without end', '{"a":1e300}'],
    ['is too long', `{"a":1${' '.repeat(3 * 1024 * 1024)}}`],
    ['has too many names', `{${Array.from({ length: 5_001 }, (_, n) => `"m${n}":1`).join()}}`],
  ])('fall back to the shipped ones if a fetched list %s', async (_title, text) => {
    answers = { '/lists/flexible/completion.json': '{}' }
    if (text !== undefined) answers['/lists/flexible/prompt.json'] = text
    const { success, data } = await preset('flexible')
    expect(success).toBe(true)
    expect(data).toMatchObject({ origin: 'shipped', is_fetch_failed: true })
    expect(data.prompt['gpt-4o']).toBe('1.25')
  })

  it('are never fetched from a private address', async () => {
    const answer = await put('PresetRatioUrl', 'http://169.254.169.254/latest')
    expect(answer).toMatchObject({
      success: true,
      message: expect.stringContaining('不允许使用该地址'),
    })
    expect((await preset('flexible')).data).toMatchObject({ is_fetch_failed: true })
    await put('PresetRatioUrl', '')
  })

  it('are for admins only, and need a known source', async () => {
    expect((await preset('other')).status).toBe(400)
    expect((await preset('', fixture.root.call)).status).toBe(400)
    expect((await preset('legacy', fixture.user.call)).status).toBe(403)
    expect((await preset('legacy', fixture.anybody)).status).toBe(401)
    const answer = await fixture.admin.call('PUT', '/api/option/', {
      body: { key: 'PresetRatioUrl', value: base() },
    })
    expect(answer.status).toBe(403)
  })
})

describe('groups', () => {
  it('show a user the ratio of each group for the user, and the badge colours', async () => {
    await put('GroupRatio', '{"default":1,"vip":2}')
    await put('UserUsableGroups', '{"default":"D","vip":"V","gone":"G"}')
    await put('GroupGroupRatio', '{"default":{"vip":0.9}}')
    await put('GroupColors', '{"vip":"purple"}')
    const { data } = await fixture.user.call('GET', '/api/user/self/groups')
    expect(data).toEqual({
      default: { desc: 'D', ratio: 1, color: '' },
      vip: { desc: 'V', ratio: 0.9, color: 'purple' },
    })
    const status = await fixture.anybody<Status>('GET', '/api/status')
    expect(status.data.group_colors).toEqual({ vip: 'purple' })
    expect((await fixture.admin.call('GET', '/api/group/')).data).toEqual(['default', 'vip'])
  })
})
