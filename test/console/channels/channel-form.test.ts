import { describe, expect, it } from 'vitest'
import { en, startingWith, zh } from '#test/support/console-texts.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { channel, channelRoutes } from '../support/channel-routes.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok, refusedField } from '../support/fake-site.ts'

const app = pageFixture({ language: 'zh' })

const sent = (method: string, path: string) =>
  app.site.calls
    .filter((call) => call.method === method && call.path === path)
    .map(({ body }) => body)
const drawer = () => app.page.getByRole('dialog')
const box = (name: string) => drawer().getByRole('textbox', { name, exact: true })
const press = (name: string) => drawer().getByRole('button', { name }).click()
const pathNow = () => new URL(app.page.url()).pathname

describe('the form of a new channel', () => {
  it('creates the channel once it is complete, and asks about an address with /v1', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/admin/channels?group=vip')
    await page.getByRole('button', { name: zh('shared.newChannel') }).click()
    await press(zh('channelForm.createAction'))
    await drawer().getByText(zh('channelForm.error.nameAndKeyMissing')).first().waitFor()
    await drawer().getByText(zh('shared.error.modelsMissing')).waitFor()
    expect(pathNow()).toBe('/channel/add')
    await box(zh('shared.name')).fill('Mine')
    await box(zh('shared.key')).fill('sk-upstream')
    await press(zh('ui.showKey'))
    await expect.poll(() => box(zh('shared.key')).getAttribute('type')).toBe('text')
    await press(zh('ui.hideKey'))
    await box(zh('shared.baseUrl')).fill('https://models.example/v1/')
    await drawer()
      .getByRole('combobox', { name: zh('ui.model'), exact: true })
      .fill('gpt-4o, o3,')
    await press(zh('channelForm.createAction'))
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('channelForm.versionKeep') })
      .click()
    await page.getByText(zh('channelForm.created')).waitFor()
    expect(sent('POST', '/api/channel/')).toMatchObject([
      {
        name: en('dashboard.mine'),
        type: 1,
        key: 'sk-upstream',
        base_url: 'https://models.example/v1',
        models: 'gpt-4o,o3',
        group: 'default',
        auto_ban: 1,
        priority: 0,
        weight: 0,
        mode: 'single',
      },
    ])
    await drawer().waitFor({ state: 'detached' })
    expect(page.url()).toBe(`${site.url}/admin/channels?group=vip`)
  })

  it('has the fields and the address of the selected type', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/channel/add')
    await box('Organization ID (zh)').waitFor()
    await drawer().getByLabel(zh('shared.type')).selectOption('43')
    await expect.poll(() => box(zh('shared.baseUrl')).inputValue()).toBe('https://api.deepseek.com')
    await expect.poll(() => box('Organization ID (zh)').count()).toBe(0)
    await drawer().getByLabel(zh('shared.type')).selectOption('3')
    await expect.poll(() => box('API version (zh)').getAttribute('placeholder')).toBe('2024-10-21')
    await expect
      .poll(() =>
        drawer()
          .getByRole('button', { name: zh('channelForm.fetchModels') })
          .count(),
      )
      .toBe(0)
    await press(zh('channelForm.createAction'))
    await drawer().getByText(zh('channelForm.error.baseUrlMissing')).waitFor()
  })

  it('creates one channel per key, or one channel that uses several keys in turn', async () => {
    const { page, site } = app
    site.routes['POST /api/channel/'] = () => ok({ id: 8, ids: [8, 9] })
    await openAsRoot(page, site, '/channel/add')
    await drawer()
      .getByRole('radio', { name: zh('channelForm.mode.batch') })
      .check()
    await box(zh('shared.name')).fill('Mine')
    await box(zh('shared.key')).fill('sk-1\n\n sk-2')
    await drawer()
      .getByText(zh('channelForm.keyLines', { count: 2 }))
      .waitFor()
    await drawer()
      .getByRole('button', { name: zh('channelForm.addTypeModels') })
      .click()
    await press(zh('channelForm.createAction'))
    await page.getByText(zh('channelForm.createdMany', { count: 2 })).waitFor()
    await drawer().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: zh('shared.newChannel') }).click()
    await drawer()
      .getByRole('radio', { name: zh('channelForm.mode.multi_to_single') })
      .check()
    await drawer()
      .getByRole('radio', { name: zh('channelForm.keyChoice.polling') })
      .check()
    await box(zh('shared.name')).fill('One')
    await box(zh('shared.key')).fill('sk-1\nsk-2')
    await drawer()
      .getByRole('button', { name: zh('channelForm.addTypeModels') })
      .click()
    await press(zh('channelForm.createAction'))
    await drawer().waitFor({ state: 'detached' })
    expect(sent('POST', '/api/channel/')).toMatchObject([
      { mode: 'batch', key: 'sk-1\nsk-2' },
      { mode: 'multi_to_single', multi_key_mode: 'polling', key: 'sk-1\nsk-2' },
    ])
  })

  it('refuses a second submit while the first is pending, and closes the drawer', async () => {
    const { page, site } = app
    let answer = () => {}
    site.routes['POST /api/channel/'] = () =>
      new Promise((resolve) => {
        answer = () => resolve(ok({ id: 8, ids: [8] }))
      })
    await openAsRoot(page, site, '/channel/add')
    await box(zh('shared.name')).fill('Mine')
    await box(zh('shared.key')).fill('sk-1')
    await drawer()
      .getByRole('button', { name: zh('channelForm.addTypeModels') })
      .click()
    await press(zh('channelForm.createAction'))
    await press(zh('channelForm.createAction'))
    await page.getByText(zh('ui.duplicateSubmit')).waitFor()
    await drawer().waitFor({ state: 'detached' })
    answer()
    await page.getByText(zh('channelForm.created')).waitFor()
    expect(sent('POST', '/api/channel/')).toHaveLength(1)
  })
})

describe('the form of an existing channel', () => {
  it('shows at its field why the server refuses the address, group or proxy', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/admin/channels')
    await page.getByRole('link', { name: 'Local' }).click()
    await box(zh('shared.name')).fill('Local 2')
    const refuse = (field: string, problem: string) => {
      site.routes['PUT /api/channel/'] = () => refusedField(field, problem)
    }
    refuse('base_url', 'this address is not allowed')
    await press(zh('shared.saveChanges'))
    await drawer().getByText('this address is not allowed', { exact: true }).waitFor()
    const invalid = () => page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))
    await expect.poll(invalid).toBe('true')
    await box(zh('shared.baseUrl')).fill('https://other.example')
    await drawer().getByText('this address is not allowed').waitFor({ state: 'detached' })
    await box(zh('shared.key')).fill('sk-1')
    refuse('group', 'no group is called x')
    await press(zh('shared.saveChanges'))
    await drawer().getByText('no group is called x', { exact: true }).waitFor()
    refuse('setting', 'enter the password of setting.proxy again')
    await press(zh('shared.saveChanges'))
    await drawer().getByText('enter the password of setting.proxy again', { exact: true }).waitFor()
    await expect.poll(invalid).toBe('true')
  })

  it('requires the key again for another address, and sends only what changed', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/admin/channels')
    await page.getByRole('link', { name: 'DeepSeek' }).click()
    await box(zh('shared.baseUrl')).fill('https://elsewhere.example')
    await drawer().getByText(zh('channelForm.keyReentryHint')).waitFor()
    await press(zh('shared.saveChanges'))
    await drawer().getByText(zh('channelForm.error.keyMissing')).waitFor()
    await box(zh('shared.baseUrl')).fill('https://api.deepseek.com/')
    await box(zh('shared.name')).fill('DeepSeek 2')
    await press(zh('channelForm.routing'))
    // The site's switch is off, so the setting of the channel has no effect.
    await drawer().getByText(zh('channelForm.autoBanOff')).waitFor()
    const settings = drawer().getByRole('link', { name: zh('channelForm.autoBanSettings') })
    await expect.poll(() => settings.getAttribute('href')).toBe('/admin/settings?tab=models')
    await box(zh('channelForm.priority')).fill('x')
    await press(zh('shared.saveChanges'))
    await drawer().getByText(zh('shared.error.notInteger')).waitFor()
    await box(zh('channelForm.priority')).fill('3')
    await box(zh('channelForm.maxConcurrency')).fill('4')
    await press(zh('shared.saveChanges'))
    await page.getByText(zh('shared.saved')).waitFor()
    expect(sent('PUT', '/api/channel/')).toEqual([
      { id: 2, name: 'DeepSeek 2', priority: 3, max_concurrency: 4 },
    ])
  })

  it('says when nothing changed, and reports broken JSON when its field loses focus', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/channel/edit/1')
    await press(zh('shared.saveChanges'))
    await page.getByText(zh('shared.unchanged')).waitFor()
    await press(zh('channelForm.mappings'))
    for (const name of [
      zh('channelForm.modelMapping'),
      zh('channelForm.paramOverride'),
      zh('channelForm.setting'),
    ]) {
      await box(name).fill('{"a":')
      await box(zh('channelForm.modelPrefix')).focus()
      await drawer().getByText(zh('shared.error.notJson')).waitFor()
      await box(name).fill('')
      await drawer().getByText(zh('shared.error.notJson')).waitFor({ state: 'detached' })
    }
    for (const [name, text, fault] of [
      [
        zh('channelForm.modelMapping'),
        '{"a": "b", "b": "a"}',
        zh('channelForm.error.mappingCircle'),
      ],
      [zh('channelForm.statusCodeMapping'), '{"400": 200}', zh('channelForm.error.statusInvalid')],
      [
        zh('channelForm.setting'),
        '{"proxy": "socks5://p:1"}',
        zh('channelForm.error.proxyInvalid'),
      ],
    ] as const) {
      await box(name).fill(text)
      await box(zh('channelForm.modelPrefix')).focus()
      await drawer().getByText(fault).waitFor()
      await box(name).fill('')
      await drawer().getByText(fault).waitFor({ state: 'detached' })
    }
    await box(zh('channelForm.setting')).fill('{"include_usage": false, "prox": "", "force": 1}')
    await drawer()
      .getByText(zh('channelForm.unknownSettings', { names: 'prox, force' }))
      .waitFor()
    await box(zh('channelForm.setting')).fill('')
    expect(sent('PUT', '/api/channel/')).toEqual([])
  })

  it('opens the mappings section if it has a value, such as a proxy', async () => {
    const { page, site } = app
    Object.assign(site.routes, channelRoutes([channel({ setting: '{"proxy":"http://p:1"}' })]))
    await openAsRoot(page, site, '/channel/edit/1')
    await expect.poll(() => box(zh('channelForm.setting')).inputValue()).toContain('"http://p:1"')
    const section = drawer().getByRole('button', { name: startingWith(zh('channelForm.mappings')) })
    await expect.poll(() => section.getAttribute('aria-expanded')).toBe('true')
    await section.click()
    await box(zh('channelForm.setting')).waitFor({ state: 'detached' })
  })

  it('names the keys that were set aside with their reason, and enables one again', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/channel/edit/3')
    await drawer()
      .getByText(zh('health.reason.status', { status: 401 }))
      .waitFor()
    await drawer()
      .getByRole('button', {
        name: zh('channelForm.reuseKey', { name: zh('channelForm.keyNumber', { place: 4 }) }),
      })
      .click()
    const radio = (name: string) => drawer().getByRole('radio', { name })
    await expect.poll(() => radio(zh('channelForm.mode.append')).isChecked()).toBe(true)
    await radio(zh('channelForm.mode.replace')).check()
    await box(zh('shared.key')).fill('sk-6\nsk-7')
    await press(zh('shared.saveChanges'))
    const asked = page.getByRole('alertdialog', { name: zh('channelForm.replaceTitle') })
    await asked.getByRole('button', { name: zh('ui.cancel') }).click()
    await asked.waitFor({ state: 'detached' })
    await radio(zh('channelForm.mode.append')).check()
    await press(zh('shared.saveChanges'))
    await page.getByText(zh('shared.saved')).waitFor()
    expect(sent('PUT', '/api/channel/')).toEqual([
      { id: 3, key: 'sk-6\nsk-7', key_mode: 'append', enable_keys: [3] },
    ])
  })

  it('asks before it removes keys that unfinished work needs, and keeps the draft', async () => {
    const { page, site } = app
    const save = site.routes['PUT /api/channel/']
    site.routes['PUT /api/channel/'] = (call) => {
      const { force } = call.body as { force?: boolean }
      if (force === true && save !== undefined) return save(call)
      const body = { success: false, message: 'tasks: 3', code: 'WorkInFlight', data: null }
      return { status: 409, body }
    }
    await openAsRoot(page, site, '/channel/edit/3')
    await drawer()
      .getByRole('radio', { name: zh('channelForm.mode.replace') })
      .check()
    await box(zh('shared.key')).fill('sk-6\nsk-7')
    const saveAnd = async (answer: string) => {
      await press(zh('shared.saveChanges'))
      await page
        .getByRole('alertdialog', { name: zh('channelForm.replaceTitle') })
        .getByRole('button', { name: zh('channelForm.mode.replace') })
        .click()
      const asked = page.getByRole('alertdialog', { name: zh('channelForm.removeKeysTitle') })
      await asked.getByText('tasks: 3').waitFor()
      await asked.getByRole('button', { name: answer, exact: true }).click()
      await asked.waitFor({ state: 'detached' })
    }
    await saveAnd(zh('ui.cancel'))
    expect(await box(zh('shared.key')).inputValue()).toBe('sk-6\nsk-7')
    await saveAnd(zh('channelForm.removeKeys'))
    await page.getByText(zh('shared.saved')).waitFor()
    const body = { id: 3, key: 'sk-6\nsk-7', key_mode: 'replace' }
    expect(sent('PUT', '/api/channel/')).toEqual([body, body, { ...body, force: true }])
  })

  it('fetches models from the provider for selection, and reports a failed fetch', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/channel/edit/1')
    await box(zh('shared.baseUrl')).fill('https://elsewhere.example')
    await press(zh('channelForm.fetchModels'))
    await page.getByRole('alert').getByText(zh('channelForm.error.keyMissing')).waitFor()
    await box(zh('shared.key')).fill('sk-wrong')
    await press(zh('channelForm.fetchModels'))
    await page.getByText(zh('channels.modelsFailed')).waitFor()
    await page.getByText('The provider refused the key').waitFor()
    expect(sent('POST', '/api/channel/fetch_models')).toMatchObject([
      { base_url: 'https://elsewhere.example', type: 1, key: 'sk-wrong' },
    ])
    await box(zh('shared.key')).fill('')
    await box(zh('shared.baseUrl')).fill('https://api.openai.com')
    await press(zh('channelForm.fetchModels'))
    const picker = page.getByRole('dialog', { name: zh('channelForm.selectModelsTitle') })
    await picker.getByLabel(zh('shared.searchModels')).fill('gpt')
    await picker.getByRole('checkbox', { name: zh('channelForm.allModels', { count: 2 }) }).check()
    await picker
      .getByRole('button', { name: zh('channelForm.useSelectedModels', { count: 4 }) })
      .click()
    await picker.waitFor({ state: 'detached' })
    await press(zh('ui.remove', { name: 'gpt-4o-mini' }))
    await press(zh('shared.saveChanges'))
    await page.getByText(zh('shared.saved')).waitFor()
    expect(sent('PUT', '/api/channel/')).toEqual([{ id: 1, models: 'gpt-4o,o3,gpt-5' }])
  })
})

describe('the channel form and the browser’s address', () => {
  it('the form says that no channel has the id in the address', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/channel/edit/77')
    await drawer().getByText(zh('channels.missing')).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(pathNow).toBe('/admin/channels')
  })

  it('the Back button asks before unsaved changes are discarded', async () => {
    const { page, site } = app
    await openAsRoot(page, site, '/admin/channels')
    await page.getByRole('link', { name: 'OpenAI main' }).click()
    await box(zh('shared.name')).fill('Other')
    await page.goBack()
    const question = page.getByRole('alertdialog')
    await question.getByRole('button', { name: zh('ui.unsavedStay') }).click()
    await question.waitFor({ state: 'detached' })
    await expect.poll(() => box(zh('shared.name')).inputValue()).toBe('Other')
    await page.goBack()
    await question.getByRole('button', { name: zh('ui.unsavedLeave') }).click()
    await drawer().waitFor({ state: 'detached' })
    expect(pathNow()).toBe('/admin/channels')
    await page.getByRole('link', { name: 'OpenAI main' }).click()
    await expect.poll(() => box(zh('shared.name')).inputValue()).toBe('OpenAI main')
  })
})
