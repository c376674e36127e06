import { describe, expect, it } from 'vitest'
import { oneOf, textPattern, zh } from '#test/support/console-texts.ts'
import { OPEN_TOKEN_TERMS } from '#test/support/token-fields.ts'
import { token } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeRoutes, ok, refused } from '../support/fake-site.ts'

const app = pageFixture({ language: 'zh' })

const sent = (method: string, path: string) =>
  app.site.calls.filter((call) => call.method === method && call.path === path)
const bodies = (method: string, path: string) => sent(method, path).map(({ body }) => body)
const press = (name: string) => app.page.getByRole('button', { name, exact: true }).click()
const said = (text: string) => app.page.getByText(text, { exact: true }).first().waitFor()

describe('the drawer for a new token', () => {
  it('first shows the error of each field, then creates the token as typed', async () => {
    await app.openAsRoot('/app/tokens')
    await press(zh('tokens.create'))
    const drawer = app.page.getByRole('dialog')
    await drawer.getByRole('button', { name: zh('tokens.preset.hour'), exact: true }).click()
    await drawer.getByLabel(zh('shared.expires')).fill('')
    await drawer.getByLabel(zh('tokens.amountInCurrency')).fill('much')
    await drawer.getByLabel(zh('tokens.count')).fill('101')
    await drawer.getByLabel(zh('tokens.maxConcurrency')).fill('many')
    await drawer.getByLabel(zh('tokens.allowIps')).fill('10.0.0.0/8\n300.1.1.1')
    await drawer.getByText(zh('tokens.hasModelLimits')).click()
    await drawer.getByRole('button', { name: zh('tokens.createAction') }).click()
    for (const fault of [
      zh('tokens.error.nameMissing'),
      zh('tokens.error.amountInvalid'),
      zh('tokens.error.expiryInvalid'),
      zh('shared.error.wholeNumber', { min: 1, max: 100 }),
      zh('shared.error.wholeNumber', { min: 0, max: '100,000' }),
      zh('shared.error.modelsMissing'),
      zh('tokens.error.ipInvalid', { line: 2, address: '300.1.1.1' }),
    ]) {
      await drawer.getByText(fault).waitFor()
    }
    expect(sent('POST', '/api/token/')).toHaveLength(0)
    await drawer.getByLabel(zh('shared.name')).fill('ci')
    await drawer.getByRole('button', { name: '$10', exact: true }).click()
    await drawer.getByRole('button', { name: zh('shared.never'), exact: true }).click()
    await drawer.getByLabel(zh('tokens.maxConcurrency')).fill('4')
    await drawer.getByLabel(zh('tokens.tokensPerMinute')).fill('90000')
    await drawer.getByLabel(zh('tokens.allowIps')).fill('10.0.0.0/8\n2001:db8::/32')
    await drawer.getByText(zh('tokens.rateLimit.isEnabled')).click()
    await drawer.getByLabel(zh('tokens.rateLimit.count')).fill('600')
    await drawer.getByLabel(zh('tokens.models')).fill('gpt-4o, o3,')
    await app.page.keyboard.press('Tab')
    await drawer.getByLabel(zh('ui.groupName')).selectOption('vip')
    await drawer.getByLabel(zh('tokens.count')).fill('1')
    await drawer.getByRole('button', { name: zh('tokens.createAction') }).click()
    await app.page.getByRole('dialog', { name: zh('tokens.createdTitle') }).waitFor()
    expect(bodies('POST', '/api/token/')).toEqual([
      {
        ...OPEN_TOKEN_TERMS,
        name: 'ci',
        remain_quota: 5_000_000,
        rate_limit_enabled: true,
        rate_limit_count: 600,
        rate_limit_tpm: 90_000,
        max_concurrency: 4,
        model_limits_enabled: true,
        model_limits: 'gpt-4o,o3',
        allow_ips: '10.0.0.0/8\n2001:db8::/32',
        group: 'vip',
        count: 1,
      },
    ])
    const code = await app.page.getByRole('dialog').locator('pre').innerText()
    expect(code).toContain(`${app.site.url}/v1/chat/completions`)
    // The model is one of those that the token is limited to, and of those of its group.
    expect(code).toContain('"model":"gpt-4o"')
    const modelReads = app.site.calls.filter(({ path }) => path === '/api/user/models')
    expect(modelReads.at(-1)?.query.toString()).toBe('chat=true&group=vip')
    expect(code).not.toContain('q'.repeat(40))
  })

  it('creates many tokens with one request, and asks before it discards typed text', async () => {
    await app.openAsRoot('/app/tokens')
    await press(zh('tokens.create'))
    await app.page.getByRole('textbox', { name: zh('shared.name'), exact: true }).fill('ci')
    await app.page.keyboard.press('Escape')
    await app.page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('ui.unsavedStay') })
      .click()
    await press('30')
    const models = app.site.routes['GET /api/user/models'] ?? (() => ok([]))
    app.site.routes['GET /api/user/models'] = () => ok([])
    await app.page.getByRole('button', { name: zh('tokens.createAction') }).click()
    await app.page.getByRole('dialog', { name: zh('tokens.createdMany', { count: 30 }) }).waitFor()
    await app.page.getByText(zh('tokens.noModelYet')).waitFor()
    app.site.routes['GET /api/user/models'] = models
    expect(bodies('POST', '/api/token/')).toMatchObject([{ name: 'ci', count: 30 }])
  })

  it('keeps the typed text when the server refuses', async () => {
    app.site.routes['POST /api/token/'] = () => refused('You can have at most 1000 tokens')
    await app.openAsRoot('/app/tokens')
    await press(zh('tokens.create'))
    await app.page.getByRole('textbox', { name: zh('shared.name'), exact: true }).fill('ci')
    await app.page.getByRole('button', { name: zh('tokens.createAction') }).click()
    await said('You can have at most 1000 tokens')
    const name = app.page.getByRole('textbox', { name: zh('shared.name'), exact: true })
    await expect.poll(() => name.inputValue()).toBe('ci')
  })
})

it('a click on a row opens the token; a phone shows batch actions after a selection', async () => {
  await app.openAsRoot('/app/tokens')
  await app.page.getByText('mobile app', { exact: true }).click()
  await app.page.getByRole('dialog', { name: zh('tokens.editTitle') }).waitFor()
  await app.page.keyboard.press('Escape')
  await press(zh('shared.moreActions', { name: 'mobile app' }))
  await app.page.getByRole('menuitem', { name: zh('clientSetup.title') }).click()
  await app.page
    .getByRole('dialog', { name: zh('tokens.codeTitle', { name: 'mobile app' }) })
    .waitFor()
  await app.page.keyboard.press('Escape')
  await app.page.setViewportSize({ width: 390, height: 844 })
  const actions = app.page.getByRole('group', { name: zh('ui.selectionActions') })
  await actions.waitFor({ state: 'detached' })
  await app.page.getByRole('article').first().getByRole('checkbox').check()
  await actions.waitFor()
})

it('an edited token sends only what changed', async () => {
  await app.openAsRoot('/app/tokens')
  await press(zh('shared.moreActions', { name: 'mobile app' }))
  await app.page.getByRole('menuitem', { name: zh('ui.editRow') }).click()
  const drawer = app.page.getByRole('dialog')
  await drawer.getByLabel(zh('shared.name')).fill('')
  await drawer.getByRole('button', { name: zh('shared.saveChanges') }).click()
  await drawer.getByText(zh('tokens.error.nameMissing')).waitFor()
  await drawer.getByLabel(zh('shared.name')).fill('mobile')
  await drawer.getByLabel(zh('tokens.maxConcurrency')).fill('2')
  await drawer.getByRole('button', { name: zh('shared.saveChanges') }).click()
  await said(zh('shared.saved'))
  expect(bodies('PUT', '/api/token/')).toEqual([{ id: 2, name: 'mobile', max_concurrency: 2 }])
})

it('a quota that another edit set shows the new amount, and the next save sets it', async () => {
  let remain = 12_000
  let budget_version = 0
  const row = () => token({ id: 2, remain_quota: remain, budget_version })
  app.site.routes['GET /api/token/2'] = () => ok(row())
  const put = app.site.routes['PUT /api/token/'] ?? (() => ok(null))
  app.site.routes['PUT /api/token/'] = (call) => {
    const { budget_version: seen } = call.body as { budget_version?: number }
    if (seen === budget_version) return put(call)
    const body = { success: false, message: 'moved', code: 'TokenBudgetMoved', data: null }
    return { status: 409, body }
  }
  await app.openAsRoot('/app/tokens')
  await press(zh('shared.moreActions', { name: 'mobile app' }))
  await app.page.getByRole('menuitem', { name: zh('ui.editRow') }).click()
  const drawer = app.page.getByRole('dialog')
  const amount = drawer.getByLabel(zh('tokens.amountInCurrency'))
  const save = () => drawer.getByRole('button', { name: zh('shared.saveChanges') }).click()
  await amount.fill('20')
  for (const [quota, text] of [
    [10_000, '$0.02'],
    [-5_000, '-$0.01'],
  ] as const) {
    remain = quota
    budget_version += 1
    await save()
    await drawer.getByText(zh('tokens.error.amountChangedByEdit', { amount: text })).waitFor()
    await expect.poll(() => amount.inputValue()).toBe('20')
  }
  await save()
  await said(zh('shared.saved'))
  expect(bodies('PUT', '/api/token/')).toEqual(
    [12_000, 10_000, -5_000].map((expected_remain_quota, budget_version) => ({
      ...{ id: 2, remain_quota: 10_000_000, expected_remain_quota, budget_version },
    })),
  )
})

it('a switch can be undone with one press, and is restored when the server refuses', async () => {
  await app.openAsRoot('/app/tokens')
  const toggle = app.page.getByRole('switch', {
    name: zh('shared.enableNamed', { name: 'production' }),
  })
  await toggle.click()
  await press(zh('shared.undo'))
  await expect
    .poll(() => bodies('PUT', '/api/token/'))
    .toEqual([
      { id: 1, status: 2 },
      { id: 1, status: 1 },
    ])
  app.site.routes['PUT /api/token/'] = () => refused('The token cannot be used')
  await toggle.click()
  await said('The token cannot be used')
  await expect.poll(() => toggle.isChecked()).toBe(true)
  await expect
    .poll(() =>
      app.page
        .getByRole('switch', { name: zh('shared.enableNamed', { name: 'trial' }) })
        .isDisabled(),
    )
    .toBe(true)
})

describe('selected tokens', () => {
  const selectAll = () => app.page.getByRole('columnheader').getByRole('checkbox').check()

  it('show batch actions, which are hidden without a selection', async () => {
    await app.openAsRoot('/app/tokens')
    const actions = app.page.getByRole('button', {
      name: oneOf(
        zh('tokens.copySelected'),
        zh('shared.enableSelected'),
        zh('shared.disableSelected'),
        zh('shared.deleteSelected'),
      ),
    })
    await expect.poll(() => actions.count()).toBe(0)
    await selectAll()
    await expect.poll(() => actions.count()).toBe(4)
  })

  it('are disabled and enabled by one request each, and restored after a refusal', async () => {
    await app.openAsRoot('/app/tokens')
    await selectAll()
    await press(zh('shared.disableSelected'))
    await said(zh('tokens.disabledMany', { count: 3 }))
    await press(zh('shared.undo'))
    await said(zh('tokens.enabledMany', { count: 3 }))
    const ids = [1, 2, 3]
    expect(bodies('POST', '/api/token/batch/status')).toEqual([
      { ids, status: 2 },
      { ids, status: 1 },
    ])
    app.site.routes['POST /api/token/batch/status'] = () => refused('The token does not exist: 2')
    await press(zh('shared.disableSelected'))
    await said('The token does not exist: 2')
    const toggle = app.page.getByRole('switch', {
      name: zh('shared.enableNamed', { name: 'mobile app' }),
    })
    await expect.poll(() => toggle.isChecked()).toBe(true)
  })

  it('are deleted by one request, all or none, after a confirmation', async () => {
    await app.openAsRoot('/app/tokens')
    await selectAll()
    await press(zh('shared.deleteSelected'))
    await app.page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('ui.cancel') })
      .click()
    expect(sent('POST', '/api/token/batch')).toHaveLength(0)
    const answer = app.site.routes['POST /api/token/batch']
    app.site.routes['POST /api/token/batch'] = () => refused('The token does not exist: 5')
    const remove = async () => {
      await press(zh('shared.deleteSelected'))
      await app.page
        .getByRole('alertdialog')
        .getByRole('button', { name: zh('shared.delete') })
        .click()
    }
    await remove()
    await said('The token does not exist: 5')
    await app.page.getByText(zh('ui.selectedCount', { count: 6 })).waitFor()
    if (answer !== undefined) app.site.routes['POST /api/token/batch'] = answer
    await remove()
    await said(zh('tokens.noneTitle'))
    expect(bodies('POST', '/api/token/batch').at(-1)).toEqual({ ids: [1, 2, 3, 4, 5, 6] })
  })

  it('have their keys copied, or shown for manual copying without a clipboard', async () => {
    await app.page.addInitScript(() => {
      document.execCommand = () => false
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
    })
    await app.openAsRoot('/app/tokens')
    await selectAll()
    await press(zh('tokens.copySelected'))
    const dialog = app.page.getByRole('dialog', { name: zh('ui.copyFailed') })
    const box = dialog.getByRole('textbox')
    const selected = () => app.page.evaluate(() => String(document.getSelection()))
    await expect.poll(selected).toBe(await box.inputValue())
    const keys = (await box.inputValue()).split('\n')
    expect(keys).toHaveLength(6)
    for (const key of keys) expect(key).toMatch(/^sk-Xk9q+7Hd2$/)
  })
})

describe('the token list', () => {
  const modelReads = () =>
    app.site.calls.filter(({ path }) => path.startsWith('/api/token/')).at(-1)?.query

  it('is sorted by its headers and filtered by status, both in the URL', async () => {
    await app.openAsRoot('/app/tokens')
    await app.page.getByRole('button', { name: zh('shared.quota'), exact: true }).click()
    await expect.poll(() => modelReads()?.toString()).toContain('sort=remain_quota&order=desc')
    await app.page.getByRole('button', { name: zh('shared.quota'), exact: true }).click()
    await expect.poll(() => modelReads()?.get('order')).toBe('asc')
    await app.page.getByLabel(zh('shared.status'), { exact: true }).selectOption('4')
    await expect.poll(() => modelReads()?.get('status')).toBe('4')
    expect(new URL(app.page.url()).search).toBe('?sort=quota&order=asc&status=4')
    await app.page.reload()
    await expect.poll(() => modelReads()?.get('sort')).toBe('remain_quota')
  })

  it('can be searched by a key, which never appears in the URL', async () => {
    await app.openAsRoot('/app/tokens')
    await app.page.getByLabel(zh('tokens.searchKey')).fill('sk-Xk9')
    await expect.poll(() => modelReads()?.get('token')).toBe('sk-Xk9')
    expect(app.page.url()).not.toContain('Xk9')
  })
})

describe('a chat link', () => {
  const openMenu = () => press(zh('shared.moreActions', { name: 'production' }))

  it('causes an error message when it is missing or invalid', async () => {
    await app.openAsRoot('/app/tokens')
    await openMenu()
    await app.page.getByRole('menuitem', { name: zh('ui.chat') }).click()
    await said(zh('ui.noChatLinks'))
    const status = app.site.routes['GET /api/status']
    app.site.routes['GET /api/status'] = async (call) => {
      const answer = await (status as NonNullable<typeof status>)(call)
      const body = answer.body as { data: object }
      return { ...answer, body: { ...body, data: { ...body.data, chats: [{ Bad: 'no link' }] } } }
    }
    await app.page.reload()
    await openMenu()
    await app.page.getByRole('menuitem', { name: zh('tokens.chatIn', { name: 'Bad' }) }).click()
    await said(zh('ui.chatLinkInvalid'))
  })

  it('opens with the site address and the key of the token', async () => {
    const template = `${app.site.url}/client?u={address}&k={key}`
    const status = app.site.routes['GET /api/status']
    app.site.routes['GET /api/status'] = async (call) => {
      const answer = await (status as NonNullable<typeof status>)(call)
      const body = answer.body as { data: object }
      const chats = [{ Client: template }]
      return { ...answer, body: { ...body, data: { ...body.data, chats } } }
    }
    await app.openAsRoot('/app/tokens')
    await openMenu()
    const client = app.page.context().waitForEvent('page')
    await app.page.getByRole('menuitem', { name: zh('tokens.chatIn', { name: 'Client' }) }).click()
    const address = new URL((await client).url())
    expect(address.searchParams.get('u')).toBe(app.site.url)
    expect(address.searchParams.get('k')).toMatch(/^sk-Xk9q+7Hd2$/)
  })
})

describe('a selection of tokens beyond the page', () => {
  it('includes all current matches, and ends when the filter changes', async () => {
    let all = Array.from({ length: 347 }, (_, n) => token({ id: n + 1, name: `t-${n + 1}` }))
    const list: FakeRoutes[string] = ({ query }) => {
      const [size, at] = [Number(query.get('size')), Number(query.get('p'))]
      const items = all.slice(at * size, (at + 1) * size)
      return ok({ items, page: at, total: all.length })
    }
    app.site.routes['GET /api/token/'] = list
    app.site.routes['GET /api/token/search'] = list
    app.site.routes['POST /api/token/batch/status'] = ({ body }) => {
      const { ids, status } = body as { ids: number[]; status: number }
      all = all.map((one) => (ids.includes(one.id) ? { ...one, status } : one))
      return ok(null)
    }
    app.site.routes['DELETE /api/token/1/'] = () => {
      all = all.filter(({ id }) => id !== 1)
      return ok(null)
    }
    await app.openAsRoot('/app/tokens')
    await app.page
      .getByRole('checkbox', { name: zh('ui.selectRow') })
      .first()
      .click()
    await press(zh('ui.selectMatching', { count: 347 }))
    await said(zh('ui.selectedCount', { count: 347 }))
    await app.page
      .getByRole('checkbox', { name: zh('ui.selectRow') })
      .nth(2)
      .click()
    await said(zh('ui.selectedCount', { count: 346 }))
    await press(zh('shared.disableSelected'))
    await said(zh('tokens.disabledMany', { count: 346 }))
    await press(zh('shared.enableSelected'))
    await said(zh('tokens.enabledMany', { count: 346 }))
    await press(zh('shared.moreActions', { name: 't-1' }))
    await app.page.getByRole('menuitem', { name: zh('shared.delete') }).click()
    await app.page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('shared.delete') })
      .click()
    await said(zh('ui.selectedCount', { count: 345 }))
    const sentIds = bodies('POST', '/api/token/batch/status') as { ids: number[] }[]
    expect(sentIds.map(({ ids }) => ids.length)).toEqual([346, 346])
    await app.page.getByRole('combobox', { name: zh('shared.status') }).selectOption('1')
    await expect
      .poll(() => app.page.getByText(textPattern('zh', 'ui.selectedCount')).count())
      .toBe(0)
  })
})
