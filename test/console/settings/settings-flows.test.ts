import { describe, expect, it } from 'vitest'
import { textPattern, zh } from '#test/support/console-texts.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok, refused } from '../support/fake-site.ts'
import { label } from './option-label.ts'

const app = pageFixture({ language: 'zh' })

type Put = { key: string; value: string }
const puts = () =>
  app.site.calls
    .filter(({ method, path }) => method === 'PUT' && path === '/api/option/')
    .map(({ body }) => body as Put)
const sent = () => Object.fromEntries(puts().map(({ key, value }) => [key, value]))
const field = (label: string) => app.page.getByLabel(label, { exact: true })
const save = () => app.page.getByRole('button', { name: zh('shared.saveSettings') }).click()
const open = (tab: string) => app.openAsRoot(`/admin/settings?tab=${tab}`)

/** Enters an invalid value, leaves the field, expects an error, and corrects the value. */
async function mend(
  label: string,
  wrong: string,
  words: string | RegExp,
  right: string,
): Promise<void> {
  await field(label).fill(wrong)
  await field(label).blur()
  await app.page.getByText(words).first().waitFor()
  await field(label).fill(right)
}

it('the page hides options without effect', async () => {
  await open('operation')
  await field(label('QuotaForNewUser', 'quota')).waitFor()
  await expect.poll(() => field('StreamCacheQueueLength').count()).toBe(0)
})

describe('a change by another user', () => {
  it('appears without a reload, but never replaces a value that the user is editing', async () => {
    await open('operation')
    const quota = field(label('QuotaForNewUser', 'quota'))
    const elsewhere = (value: string) =>
      app.page.request.put(`${app.site.url}/api/option/`, {
        data: { key: 'QuotaForNewUser', value },
      })
    const returnToPage = () =>
      app.page.evaluate(() =>
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true })),
      )
    const reads = () => app.site.calls.filter(({ path }) => path === '/api/option/').length
    await quota.waitFor()
    await elsewhere('4321')
    await returnToPage()
    await expect.poll(() => quota.inputValue()).toBe('4321')
    // A value that was typed and restored is not an edit, so the field still follows saved changes.
    await quota.fill('5')
    await app.page.getByText(zh('settings.changes', { count: 1 })).waitFor()
    await quota.fill('4321')
    await elsewhere('4322')
    await returnToPage()
    await expect.poll(() => quota.inputValue()).toBe('4322')
    await quota.fill('77')
    await elsewhere('9')
    const before = reads()
    await returnToPage()
    await app.page.getByText(zh('settings.changes', { count: 1 })).waitFor()
    expect(reads()).toBe(before)
    await expect.poll(() => quota.inputValue()).toBe('77')
    // After a refused save, the page reads the options again, but the draft is still compared with
    // the values it was based on.
    const { 'PUT /api/option/': put } = app.site.routes
    const refusal = { success: false, message: 'no', code: 'Fault' }
    app.site.routes['PUT /api/option/'] = () => ({ status: 400, body: refusal })
    await save()
    await expect.poll(reads).toBeGreaterThan(before)
    await app.page.getByText(zh('settings.failed')).waitFor()
    if (put !== undefined) app.site.routes['PUT /api/option/'] = put
    await save()
    const sent = () => app.site.calls.filter(({ method }) => method === 'PUT').at(-1)?.body
    await expect.poll(sent).toMatchObject({ value: '77', before: '4322' })
  })
})

describe('a wrong input in a settings tab', () => {
  it('is rejected until corrected in operation: quota, rebate, chats, groups, ratios', async () => {
    await open('operation&groups=json')
    await mend(label('QuotaForNewUser', 'quota'), '-1', zh('settings.tooSmall', { min: 0 }), '1000')
    await mend(label('RebatePercentage', '%'), '101', zh('options.bounds.RebatePercentage'), '12.5')
    await mend(label('Chats'), '[{"a":', zh('shared.error.notJson'), '[{"a":"https://a.example"}]')
    const unknown = zh('settings.unknownPlaceholder', { placeholder: '{nope}' })
    await mend(label('Chats'), '[{"a":"x:{nope}"}]', unknown, '[{"a":"https://a.example"}]')
    await mend(label('UserUsableGroups'), '{"vip":1}', zh('settings.notTextMap'), '{"vip":"VIP"}')
    await mend(label('ImageRatio'), '{"m":"x"}', zh('settings.notMap'), '{"m":2}')
    await app.page.getByRole('switch', { name: label('RebateEnabled') }).check()
    await save()
    await app.page.getByText(zh('shared.saved')).waitFor()
    expect(sent()).toEqual({
      QuotaForNewUser: '1000',
      RebatePercentage: '12.5',
      RebateEnabled: 'true',
      Chats: '[\n  {\n    "a": "https://a.example"\n  }\n]',
      UserUsableGroups: '{\n  "vip": "VIP"\n}',
      ImageRatio: '{\n  "m": 2\n}',
    })
  })

  it('is rejected until corrected when a maximum is below its minimum', async () => {
    await open('operation')
    const [least, most] = [label('CheckInQuota', 'quota'), label('CheckInMaxQuota', 'quota')]
    await mend(
      least,
      'x',
      zh('settings.withMinimum', { text: zh('shared.error.notInteger'), min: 0 }),
      '2000',
    )
    await mend(most, '1999', zh('settings.belowOther', { other: label('CheckInQuota') }), '5000')
    await save()
    await app.page.getByText(zh('shared.saved')).waitFor()
    expect(sent()).toEqual({ CheckInQuota: '2000', CheckInMaxQuota: '5000' })
  })

  it('is rejected until corrected in rate limit', async () => {
    await open('ratelimit')
    await mend(
      label('ModelRequestRateLimitSuccessCount'),
      '0',
      zh('settings.tooSmall', { min: 1 }),
      '50',
    )
    const bounds = textPattern('zh', 'settings.withBounds', {
      text: zh('shared.error.notInteger'),
      min: -1,
    })
    await mend(label('ModelRequestRateLimitCount'), '1.5', bounds, '-1')
    await save()
    await app.page.getByText(zh('shared.saved')).waitFor()
    expect(sent()).toEqual({
      ModelRequestRateLimitSuccessCount: '50',
      ModelRequestRateLimitCount: '-1',
    })
  })

  it('is rejected until corrected in models, where blocked words are saved as lines', async () => {
    await open('models')
    await mend(
      label('general_setting.ping_interval_seconds', 'second'),
      '0',
      zh('settings.tooSmall', { min: 1 }),
      '30',
    )
    await mend(label('RetryTimes'), '4', zh('settings.tooLarge', { max: 3 }), '2')
    await field(label('SensitiveWords')).fill('one\ntwo')
    await save()
    await app.page.getByText(zh('shared.saved')).waitFor()
    expect(Object.keys(sent())).toHaveLength(3)
    expect(sent()).toMatchObject({ SensitiveWords: 'one\ntwo', RetryTimes: '2' })
  })

  it('is rejected until corrected in system, where some options need a confirmation', async () => {
    await open('system')
    await mend(label('ServerAddress'), 'example.com', zh('settings.notUrl'), 'https://a.example')
    await mend(label('SMTPPort'), '70000', zh('settings.tooLarge', { max: 65535 }), '465')
    await expect.poll(() => field(label('SMTPToken')).inputValue()).toBe('')
    await field(label('SMTPToken')).fill('secret')
    await field(label('GitHubClientSecret')).fill('other')
    await field(label('GitHubClientSecret')).fill('')
    const login = app.page.getByRole('switch', { name: label('PasswordLoginEnabled') })
    await login.click()
    await app.page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('ui.cancel') })
      .click()
    await expect.poll(() => login.isChecked()).toBe(true)
    await login.click()
    await app.page
      .getByRole('alertdialog')
      .getByRole('button', { name: zh('settings.confirmYes') })
      .click()
    await expect.poll(() => login.isChecked()).toBe(false)
    await save()
    await app.page.getByText(zh('shared.saved')).waitFor()
    expect(sent()).toEqual({
      ServerAddress: 'https://a.example',
      SMTPPort: '465',
      SMTPToken: 'secret',
      PasswordLoginEnabled: 'false',
    })
  })

  it('is rejected until corrected in other: name, documentation link, time step', async () => {
    await open('other')
    await mend(label('SystemName'), 'x'.repeat(101), zh('settings.tooLong', { max: 100 }), 'Mine')
    await mend(
      label('general_setting.docs_link'),
      'docs',
      zh('settings.notUrl'),
      'https://docs.example',
    )
    await app.page
      .getByLabel(label('DataExportDefaultTime'))
      .selectOption({ label: zh('dashboard.step.day') })
    await save()
    await app.page.getByText(zh('shared.saved')).waitFor()
    expect(sent()).toEqual({
      SystemName: 'Mine',
      'general_setting.docs_link': 'https://docs.example',
      DataExportDefaultTime: 'day',
    })
  })
})

describe('a save', () => {
  it('opens the tab of the first error, focuses its field, and sends nothing', async () => {
    await open('ratelimit')
    await field(label('ModelRequestRateLimitSuccessCount')).fill('0')
    await app.page.getByRole('tab', { name: zh('settings.tab.other') }).click()
    await field(label('SystemName')).fill('Mine')
    await save()
    await app.page.getByText(zh('settings.checkInput')).waitFor()
    await expect
      .poll(() => app.page.evaluate(() => document.activeElement?.getAttribute('aria-invalid')))
      .toBe('true')
    expect(new URL(app.page.url()).searchParams.get('tab')).toBe('ratelimit')
    expect(puts()).toEqual([])
  })

  it('keeps a value that the server refused, and shows the message at its field', async () => {
    await open('other')
    await field(label('SystemName')).fill('Mine')
    app.site.routes['PUT /api/option/'] = () => refused('Name not available')
    await save()
    await app.page.getByText(zh('settings.failed')).waitFor()
    await app.page.locator('.tg-field-error', { hasText: 'Name not available' }).waitFor()
    await expect.poll(() => field(label('SystemName')).inputValue()).toBe('Mine')
    await field(label('SystemName')).fill('Ours')
    await expect.poll(() => app.page.locator('.tg-field-error').count()).toBe(0)
    // A warning in the response of a save is also shown at the field, with its name.
    app.site.routes['PUT /api/option/'] = () => ok(null, 'Nothing will call it')
    await save()
    await app.page.getByText(`${label('SystemName')} · Nothing will call it`).waitFor()
    await app.page.locator('.tg-field-error', { hasText: 'Nothing will call it' }).waitFor()
  })

  it('reports when it succeeded but the options could not be read again', async () => {
    await open('other')
    await field(label('SystemName')).fill('Mine')
    app.site.routes['GET /api/option/'] = () => ({ status: 400, body: refused('Refused').body })
    await save()
    await app.page.getByText(zh('shared.refreshFailed')).waitFor()
  })

  it('has a review of what it will send, which never shows secrets', async () => {
    await open('system')
    await field(label('SMTPPort')).fill('25')
    await field(label('SMTPToken')).fill('canary')
    await app.page.getByRole('button', { name: zh('settings.review') }).click()
    const drawer = app.page.getByRole('dialog')
    await drawer.getByText('587').waitFor()
    await drawer.getByText(zh('settings.secretReplaced')).waitFor()
    await expect.poll(() => drawer.innerText()).not.toContain('canary')
  })
})

describe('the update check', () => {
  const newer = { current: '0.1.0', latest: 'v9.0.0', notes: 'Better.', is_newer: true }

  it('shows an error message when it fails, then the new release', async () => {
    await open('other')
    app.site.routes['GET /api/option/latest_release'] = () => refused('The releases cannot be read')
    await app.page
      .getByRole('button', { name: zh('settings.update.check') })
      .last()
      .click()
    await app.page.getByText('The releases cannot be read').waitFor()
    app.site.routes['GET /api/option/latest_release'] = ({ query }) =>
      query.get('is_forced') === 'true'
        ? ok({ ...newer, checked_at: 1_763_000_000 })
        : ok({ ...newer, latest: '', is_newer: false, checked_at: 0 })
    await app.page
      .getByRole('button', { name: zh('settings.update.check') })
      .last()
      .click()
    await app.page
      .getByText(zh('settings.update.newer', { latest: 'v9.0.0', current: '0.1.0' }))
      .first()
      .waitFor()
    await app.page.getByText('Better.').waitFor()
  })

  it('puts one line above the settings when it runs automatically', async () => {
    app.site.routes['GET /api/option/latest_release'] = () => ok({ ...newer, checked_at: 1 })
    await open('operation')
    await app.page
      .getByText(zh('settings.update.newer', { latest: 'v9.0.0', current: '0.1.0' }))
      .waitFor()
    await app.page.getByRole('button', { name: zh('settings.update.show'), exact: true }).click()
    await app.page.getByText('Better.').waitFor()
    expect(new URL(app.page.url()).searchParams.get('tab')).toBe('other')
  })
})

it('a section shows who changed which options', async () => {
  const section = zh('options.sectionTitle.global')
  const globalHistory = zh('settings.historyOf', { section })
  await open('models')
  await app.page.getByRole('button', { name: globalHistory }).click()
  const drawer = app.page.getByRole('dialog')
  await drawer.getByText(label('global.hide_upstream_error_enabled')).waitFor()
  await drawer.getByText('root', { exact: true }).waitFor()
  await drawer.getByText(zh('settings.beforeUnknown')).waitFor()
  await expect
    .poll(() => drawer.locator('.tg-diff').first().innerText())
    .toMatch(/false[\s\S]*true/)
  await app.page.keyboard.press('Escape')
  const focused = () => app.page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await expect.poll(focused).toBe(globalHistory)
})

it('an admin can read the options of the super admin, but cannot change them', async () => {
  await app.page.addInitScript(() => {
    const admin = { id: 2, username: 'a', display_name: 'A', role: 10, status: 1, group: 'default' }
    localStorage.setItem('user', JSON.stringify(admin))
  })
  await app.page.goto(`${app.site.url}/admin/settings?tab=system`)
  await field(label('SMTPPort')).waitFor()
  await expect.poll(() => field(label('SMTPPort')).isDisabled()).toBe(true)
  await expect.poll(() => field(label('TopUpLink')).isDisabled()).toBe(true)
  await expect.poll(() => field(label('RegisterEnabled')).isDisabled()).toBe(false)
  await expect.poll(() => app.page.getByText(zh('settings.rootOnly')).count()).toBeGreaterThan(5)
})
