import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { zh } from '#test/support/console-texts.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeSite, ok, refused, STATUS } from '../support/fake-site.ts'
import { user } from '../support/user-routes.ts'

const app = pageFixture({ language: 'zh' })

const MEMBER = {
  id: 7,
  username: 'mia',
  display_name: 'Mia',
  role: 1,
  status: 1,
  group: 'default',
}
const MODELS = Array.from({ length: 12 }, (_, n) => `model-${n + 1}`)

/** Opens the profile page of a user who has data in every section. */
async function open(change: object = {}): Promise<{ page: Page; site: FakeSite }> {
  const { page, site } = app
  const self = {
    ...MEMBER,
    email: 'mia@example.com',
    quota: 1_500_000,
    used_quota: 250_000,
    request_count: 1_234,
    aff_count: 3,
    aff_quota: 750_000,
    aff_history_quota: 1_250_000,
    setting: JSON.stringify({ notify_type: 'email', webhook_url: '', notification_email: '' }),
    ...change,
  }
  const rewards = { aff_enabled: true, check_in_enabled: true }
  Object.assign(site.routes, {
    'GET /api/status': () => ok({ ...STATUS, setup: true, ...rewards }),
    'GET /api/user/self': () => ok(self),
    'GET /api/user/models': () => ok(MODELS),
    'GET /api/user/aff': () => ok('abcde23456'),
    'GET /api/user/check_in_status': () => ok({ can_check_in: true }),
  })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.addInitScript((user) => {
    if (sessionStorage.getItem('gone') === null) localStorage.setItem('user', user)
    sessionStorage.setItem('gone', '1')
  }, JSON.stringify(MEMBER))
  await page.goto(`${site.url}/app/me`)
  await page.getByRole('heading', { name: 'Mia' }).waitFor()
  return { page, site }
}

const said = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
/** Waits until a text field of a small form has the focus, so that the user can type at once. */
const hasFocus = (page: Page, name: string) =>
  page.getByRole('textbox', { name, exact: true }).and(page.locator(':focus')).waitFor()
const bodyOf = (site: FakeSite, method: string, path: string) =>
  site.calls.findLast((call) => call.method === method && call.path === path)?.body
/** Makes the route refuse requests until the user has proved the identity. */
function wantsProof(site: FakeSite, route: string, answer: unknown = null): void {
  let isProven = false
  site.routes[route] = () =>
    isProven ? ok(answer) : refused('Prove who you are, or sign in again', 'ProofNotRecent')
  site.routes['POST /api/user/proof'] = () => {
    isProven = true
    return ok(null)
  }
}

describe('the personal settings page', () => {
  it('shows the user’s role and quota, and ten models before the rest', async () => {
    const { page } = await open()
    await said(page, zh('shared.level.user'))
    await said(page, '$3.00')
    await expect.poll(() => page.getByRole('button', { name: /^model-/ }).count()).toBe(10)
    await button(page, zh('me.moreModels', { count: 2 })).click()
    await expect.poll(() => page.getByRole('button', { name: /^model-/ }).count()).toBe(12)
    await page
      .getByRole('navigation', { name: zh('shell.navigation') })
      .getByText(zh('shell.me'))
      .waitFor()
    await page.getByRole('button', { name: zh('shell.account') }).click()
    await page.getByRole('menuitem', { name: zh('shell.me') }).waitFor()
  })

  it('checks in once, and says why a check-in failed', async () => {
    const { page, site } = await open()
    site.routes['POST /api/user/check_in'] = () => ({ ...ok(null, 'Maintenance'), status: 503 })
    await button(page, zh('me.checkInNow')).click()
    await said(page, zh('me.checkInFailed'))
    await said(page, zh('request.other', { message: 'Maintenance' }))
    site.routes['POST /api/user/check_in'] = () => ok({ quota: 62_500 })
    site.routes['GET /api/user/check_in_status'] = () => ok({ can_check_in: false })
    await button(page, zh('me.checkInNow')).click()
    await said(page, zh('me.checkedIn', { amount: '$0.13' }))
    await expect.poll(() => button(page, zh('me.checkedInToday')).isDisabled()).toBe(true)
    site.routes['GET /api/user/check_in_status'] = () => ok({ can_check_in: true })
    site.routes['POST /api/user/check_in'] = () => ok({ quota: 0 })
    await page.reload()
    await button(page, zh('me.checkInNow')).click()
    await page.getByText(zh('me.checkedInNoAmount'), { exact: true }).waitFor()
  })

  it('copies the invite code and link, and transfers at least one dollar', async () => {
    const { page, site } = await open()
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 860 })
      for (const text of ['abcde23456', `${site.url}/register?aff=abcde23456`]) {
        const shown = page.locator('.tg-me-invite').getByText(text, { exact: true })
        const isWhole = await shown.evaluate((code) => {
          const { right, bottom } = code.getBoundingClientRect()
          const panel = code.closest('section')?.getBoundingClientRect()
          return panel !== undefined && right <= panel.right && bottom <= panel.bottom
        })
        expect([width, text, isWhole]).toEqual([width, text, true])
      }
    }
    await button(page, zh('me.copyInviteCode')).click()
    await button(page, zh('ui.copied')).waitFor()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('abcde23456')
    await button(page, zh('me.copyInvite')).click()
    await said(page, zh('me.inviteCopied'))
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toBe(`${site.url}/register?aff=abcde23456`)
    await button(page, zh('me.transfer')).click()
    const dialog = page.getByRole('dialog', { name: zh('me.transferTitle') })
    const amount = dialog.getByRole('textbox', { name: zh('me.amountDollars') })
    for (const [typed, words] of [
      ['x', zh('me.notAnAmount')],
      ['0.99', zh('me.transferTooSmall', { min: '$1.00' })],
      ['1.51', zh('me.transferTooMuch')],
    ] as const) {
      await amount.fill(typed)
      await page.keyboard.press('Enter')
      await dialog.getByText(words).waitFor()
    }
    site.routes['POST /api/user/aff_transfer'] = () => ok(null)
    await amount.fill('1.5')
    await page.keyboard.press('Enter')
    await said(page, zh('me.transferred'))
    expect(bodyOf(site, 'POST', '/api/user/aff_transfer')).toEqual({ quota: 750_000 })
  })

  it('disables a transfer below the minimum, and states the minimum', async () => {
    const { page } = await open({ aff_quota: 499_999 })
    await said(page, zh('me.transferFrom', { min: '$1.00' }))
    const transfer = button(page, zh('me.transfer'))
    await expect.poll(() => transfer.isDisabled()).toBe(true)
    const why = `[id="${await transfer.getAttribute('aria-describedby')}"]`
    await expect
      .poll(() => page.locator(why).textContent())
      .toBe(zh('me.transferFrom', { min: '$1.00' }))
  })

  it('changes the password once both entries match', async () => {
    const { page, site } = await open()
    site.routes['PUT /api/user/self'] = () => ok(null)
    await button(page, zh('me.changePassword')).click()
    const dialog = page.getByRole('dialog', { name: zh('me.changePassword') })
    await hasFocus(page, zh('me.currentPassword'))
    const fill = (name: string, text: string) =>
      dialog.getByRole('textbox', { name, exact: true }).fill(text)
    // All invalid fields show an error, not only the first.
    await dialog.getByRole('button', { name: zh('me.changePassword') }).click()
    for (const text of [
      zh('me.currentRequired'),
      zh('auth.passwordTooShort'),
      zh('me.repeatPasswordRequired'),
    ]) {
      await dialog.getByText(text, { exact: true }).waitFor()
    }
    await fill(zh('me.currentPassword'), 'old password')
    await fill(zh('ui.newPassword'), 'new password')
    await fill(zh('me.newPasswordAgain'), 'other password')
    await page.keyboard.press('Enter')
    await dialog.getByText(zh('ui.passwordsDiffer')).waitFor()
    await fill(zh('me.newPasswordAgain'), 'new password')
    await page.keyboard.press('Enter')
    await said(page, zh('me.passwordChanged'))
    const sent = { original_password: 'old password', password: 'new password' }
    expect(bodyOf(site, 'PUT', '/api/user/self')).toEqual(sent)
  })

  it('reports a wrong password, address or code at its field, which gets the focus', async () => {
    const { page, site } = await open()
    const security = { access_token: null, totp_since: null, recovery_codes: 0, passkeys: [] }
    Object.assign(site.routes, {
      'PUT /api/user/self': () => refused('The current password is wrong', 'WrongOriginalPassword'),
      'GET /api/verification': () => refused('The address is not valid', 'MailInvalid'),
      'GET /api/user/security': () => ok(security),
      'POST /api/user/totp/begin': () => refused('The password is wrong', 'ProofWrong'),
      'POST /api/user/totp': () => refused('The code is wrong', 'CodeWrong'),
    })
    await page.reload()
    const focused = page.locator('[aria-invalid="true"]:focus')
    const expectErrorAtFocusedField = async (message: string) => {
      await focused.waitFor()
      const id = (await focused.getAttribute('aria-describedby'))?.split(' ').at(-1) ?? ''
      await expect.poll(() => page.locator(`[id="${id}"]`).textContent()).toBe(message)
      await expect.poll(() => page.locator('.tg-toast').count()).toBe(0)
    }
    const fill = (name: string, text: string) =>
      page.getByRole('dialog').getByRole('textbox', { name, exact: true }).fill(text)
    const leave = async () => {
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await button(page, zh('me.changePassword')).click()
    await fill(zh('me.currentPassword'), 'old password')
    await fill(zh('ui.newPassword'), 'new password')
    await fill(zh('me.newPasswordAgain'), 'new password')
    await page.keyboard.press('Enter')
    await expectErrorAtFocusedField('The current password is wrong')
    await fill(zh('me.currentPassword'), 'other password')
    await expect.poll(() => page.locator('[aria-invalid="true"]').count()).toBe(0)
    await leave()
    await button(page, zh('me.changeMail')).click()
    await fill(zh('auth.email'), 'nobody')
    await button(page, zh('auth.sendCode')).click()
    await expectErrorAtFocusedField('The address is not valid')
    await expect.poll(() => button(page, zh('auth.sendCode')).isEnabled()).toBe(true)
    await leave()
    await button(page, zh('credentials.setUp')).click()
    // No second factor exists yet, so the dialog does not offer to use a code.
    await expect.poll(() => button(page, zh('credentials.useCode')).count()).toBe(0)
    await fill(zh('credentials.yourPassword'), 'wrong password')
    await page.keyboard.press('Enter')
    await expectErrorAtFocusedField('The password is wrong')
    const offer = { secret: 'ABCD'.repeat(8), uri: 'otpauth://totp/a' }
    site.routes['POST /api/user/totp/begin'] = () => ok(offer)
    await fill(zh('credentials.yourPassword'), 'right password')
    await page.keyboard.press('Enter')
    await hasFocus(page, zh('credentials.appCode'))
    await page.keyboard.type('123456')
    await page.keyboard.press('Enter')
    await expectErrorAtFocusedField('The code is wrong')
    // An error without a field is shown as a toast, which does not cover the buttons on a small
    // phone.
    await page.setViewportSize({ width: 390, height: 667 })
    site.routes['POST /api/user/totp'] = () => refused('The setup has expired', 'TotpOfferOver')
    await fill(zh('credentials.appCode'), '654321')
    await page.keyboard.press('Enter')
    await said(page, 'The setup has expired')
    const isBelowFoot = async () => {
      const toast = await page.locator('.tg-toaster').boundingBox()
      const foot = await page.locator('.tg-dialog-foot').boundingBox()
      return toast !== null && foot !== null && foot.y + foot.height <= toast.y
    }
    await expect.poll(isBelowFoot).toBe(true)
    await button(page, zh('credentials.turnOn')).click({ trial: true })
  })

  it('asks for an identity proof if the login is old, then continues the action', async () => {
    const { page, site } = await open()
    wantsProof(site, 'GET /api/user/token', 'sat_fresh')
    const dialog = page.getByRole('dialog', { name: zh('credentials.proofTitle') })
    // Cancelling is not an error, so no toast is shown.
    await button(page, zh('credentials.createToken')).click()
    await dialog.getByRole('button', { name: zh('ui.cancel') }).click()
    await dialog.waitFor({ state: 'detached' })
    await button(page, zh('credentials.createToken')).click()
    await expect.poll(() => page.locator('.tg-toast').count()).toBe(0)
    await hasFocus(page, zh('credentials.yourPassword'))
    await page.keyboard.type('my password')
    await page.keyboard.press('Enter')
    await said(page, zh('credentials.tokenCopied'))
    expect(bodyOf(site, 'POST', '/api/user/proof')).toEqual({ password: 'my password' })
    await dialog.waitFor({ state: 'detached' })
  })

  it('closes the binding dialog when its identity proof is cancelled', async () => {
    const { page, site } = await open()
    const telegram = { telegram_oauth: true, telegram_bot_name: 'gate_bot' }
    site.routes['GET /api/status'] = () => ok({ ...STATUS, ...telegram })
    site.routes['GET /api/oauth/state'] = () => refused('Prove who you are', 'ProofNotRecent')
    await page.reload()
    await button(page, zh('oauth.bind')).click()
    const proof = page.getByRole('dialog', { name: zh('credentials.proofTitle') })
    await proof.getByRole('button', { name: zh('ui.cancel') }).click()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await expect.poll(() => page.locator('.tg-toast').count()).toBe(0)
  })

  it('deletes the account once its name is typed, and leaves for the login', async () => {
    const { page, site } = await open()
    wantsProof(site, 'DELETE /api/user/self')
    await button(page, zh('me.deleteAccount')).click()
    const dialog = page.getByRole('dialog', { name: zh('me.deleteAccount') })
    const name = dialog.getByRole('textbox')
    await name.fill('Mia')
    await page.keyboard.press('Enter')
    await dialog.getByText(zh('me.typeName')).waitFor()
    expect(bodyOf(site, 'DELETE', '/api/user/self')).toBe(undefined)
    await name.fill('mia')
    await page.keyboard.press('Enter')
    await hasFocus(page, zh('credentials.yourPassword'))
    await page.keyboard.type('my password')
    await page.keyboard.press('Enter')
    await said(page, zh('me.deleted'))
    await page.waitForURL(`${site.url}/login`)
    await expect.poll(() => page.evaluate(() => localStorage.getItem('user'))).toBe(null)
  })

  it('offers the super admin no deletion of the account', async () => {
    const { page } = await open({ role: 100 })
    await said(page, zh('me.admin'))
    await expect.poll(() => button(page, zh('me.deleteAccount')).count()).toBe(0)
  })

  it('saves the notification settings, and says why saving failed', async () => {
    const { page, site } = await open()
    let status = 503
    site.routes['PUT /api/user/setting'] = () => ({ ...ok(null, 'Maintenance'), status })
    await button(page, '1000000 ($2.00)').click()
    await page.getByText(zh('me.byWebhook')).click()
    const url = page.getByRole('textbox', { name: zh('me.webhookUrl') })
    await url.fill('http://hooks.example.com/')
    await button(page, zh('shared.saveSettings')).click()
    await page.getByText(zh('me.webhookNotHttps')).waitFor()
    await url.fill('https://hooks.example.com/')
    await page.getByRole('textbox', { name: zh('me.webhookSecret') }).fill('whs-1')
    await page.getByRole('tab', { name: zh('me.tab.price') }).click()
    await page.getByRole('switch', { name: zh('me.acceptUnpriced') }).click()
    await button(page, zh('shared.saveSettings')).click()
    await said(page, zh('me.settingsFailed'))
    const toast = page.getByRole('alert').filter({ hasText: zh('me.settingsFailed') })
    await toast.getByText(zh('request.other', { message: 'Maintenance' })).waitFor()
    await toast.getByText(/req-\d+/).waitFor()
    status = 200
    await button(page, zh('shared.saveSettings')).click()
    await said(page, zh('me.settingsSaved'))
    expect(bodyOf(site, 'PUT', '/api/user/setting')).toEqual({
      notify_type: 'webhook',
      quota_warning_threshold: 1_000_000,
      webhook_url: 'https://hooks.example.com/',
      webhook_secret: 'whs-1',
      notification_email: '',
      accept_unset_model_ratio_model: true,
      show_ip_in_logs: false,
    })
  })

  it('asks for a verification code if warnings go to another address', async () => {
    const { page, site } = await open()
    site.routes['PUT /api/user/setting'] = () => ok(null)
    site.routes['GET /api/verification'] = () => ok(null)
    const mailTo = page.getByRole('textbox', { name: zh('me.mailTo') })
    const code = page.getByRole('textbox', { name: zh('auth.code') })
    await mailTo.fill('Mia@example.com')
    await expect.poll(() => code.count()).toBe(0)
    await mailTo.fill('ops@example.com')
    await button(page, zh('shared.saveSettings')).click()
    await page.getByText(zh('auth.codeRequired')).waitFor()
    expect(bodyOf(site, 'PUT', '/api/user/setting')).toBe(undefined)
    await button(page, zh('auth.sendCode')).click()
    await said(page, zh('auth.codeSent'))
    const { query } = site.calls.findLast((call) => call.path === '/api/verification') ?? {}
    expect([query?.get('email'), query?.get('purpose')]).toEqual(['ops@example.com', 'notify'])
    await code.fill('123456')
    await button(page, zh('shared.saveSettings')).click()
    await said(page, zh('me.settingsSaved'))
    expect(bodyOf(site, 'PUT', '/api/user/setting')).toMatchObject({
      notification_email: 'ops@example.com',
      notification_code: '123456',
    })
  })

  it('removes the webhook’s secret when the settings are saved', async () => {
    const kept = {
      notify_type: 'webhook',
      webhook_url: 'https://hooks.example.com/',
      webhook_secret_set: true,
      webhook_fault: 'secret',
    }
    const { page, site } = await open({ setting: JSON.stringify(kept) })
    site.routes['PUT /api/user/setting'] = () => ok(null)
    const secret = page.getByRole('textbox', { name: zh('me.webhookSecret') })
    const fault = page.getByText(zh('me.secretUnsendable'))
    await fault.waitFor()
    await secret.fill('whs-2')
    await expect.poll(() => fault.count()).toBe(0)
    await page.getByRole('checkbox', { name: zh('me.removeSecret') }).check()
    expect([await secret.isDisabled(), await secret.inputValue()]).toEqual([true, ''])
    await button(page, zh('shared.saveSettings')).click()
    await said(page, zh('me.settingsSaved'))
    expect(bodyOf(site, 'PUT', '/api/user/setting')).toMatchObject({ webhook_secret: null })
  })

  it('unbinds the email address unless it is the last login method', async () => {
    const { page, site } = await open()
    site.routes['POST /api/user/unbind'] = () => refused('This is the last login method')
    const unbind = async () => {
      await button(page, zh('oauth.unbind')).click()
      await page
        .getByRole('alertdialog')
        .getByRole('button', { name: zh('oauth.unbind') })
        .click()
      await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    }
    await unbind()
    await said(page, 'This is the last login method')
    wantsProof(site, 'POST /api/user/unbind')
    await unbind()
    await hasFocus(page, zh('credentials.yourPassword'))
    site.routes['GET /api/user/self'] = () => ok(user(MEMBER))
    await page.keyboard.type('my password')
    await page.keyboard.press('Enter')
    await said(page, zh('me.mailUnbound'))
    await said(page, zh('me.noMail'))
    expect(bodyOf(site, 'POST', '/api/user/unbind')).toEqual({ provider: 'email' })
    await expect.poll(() => button(page, zh('oauth.unbind')).count()).toBe(0)
  })
})
