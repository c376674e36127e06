import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { CredentialsOverview, OwnSession } from '#read-api/contract/credentials.ts'
import { TEXTS, type Text } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults, WIDTHS } from '../support/accessibility-faults.ts'
import { startAdminSite } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { ok, STATUS } from '../support/fake-site.ts'
import { user } from '../support/user-routes.ts'

const NOW = Math.floor(Date.now() / 1000)
const DAY = 86_400

const WEBHOOK = {
  notify_type: 'webhook',
  quota_warning_threshold: 1_000_000,
  webhook_url: 'https://hooks.example.com/tallygate/quota',
  webhook_secret_set: true,
}
const MEMBER = user({
  id: 7,
  username: 'mia',
  display_name: 'Mia Lindqvist',
  email: 'mia.lindqvist@research.example.com',
  github_id: '88213',
  role: 1,
  group: 'vip',
  quota: 1_500_000,
  used_quota: 61_250_000,
  request_count: 128_423,
  aff_count: 3,
  aff_quota: 750_000,
  aff_history_quota: 1_250_000,
  setting: JSON.stringify(WEBHOOK),
})

const OPEN = {
  ...{ setup: true, aff_enabled: true, check_in_enabled: true },
  ...{ github_oauth: true, oidc_enabled: true, linuxdo_oauth: true },
  ...{ wechat_login: true, telegram_oauth: true },
}

const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/143.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18.1 Mobile Safari/604.1',
  '',
]
const SESSIONS: readonly OwnSession[] = AGENTS.map((user_agent, at) => ({
  id: at + 1,
  ip: ['203.0.113.24', '2001:db8:85a3:8d3:1319:8a2e:370:7348', ''][at] ?? '',
  user_agent,
  started_at: NOW - at * 9 * DAY - 4_000,
  seen_at: NOW - at * 3 * DAY - 30,
  is_current: at === 0,
}))

/** At first, the account has only passkeys as a second factor. The test sets up the app. */
const SECURITY: CredentialsOverview = {
  access_token: { issued_at: NOW - 60 * DAY, expires_at: NOW + 30 * DAY },
  totp_since: null,
  recovery_codes: 8,
  passkeys: [
    { id: 1, name: 'Chrome · Linux', created_at: NOW - 40 * DAY, used_at: NOW - 3_600 },
    { id: 2, name: 'YubiKey 5C, the one on the key ring', created_at: NOW - DAY, used_at: null },
  ],
}
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const CODES = Array.from({ length: 10 }, (_, n) => `k${(n + 3) % 10}f8-9zq2-mm7x`)

const app = siteFixture(() =>
  startAdminSite({
    'GET /api/status': () => ok({ ...STATUS, ...OPEN }),
    'GET /api/user/self': () => ok(MEMBER),
    'GET /api/user/models': () => ok(Array.from({ length: 14 }, (_, n) => `gpt-model-${n}`)),
    'GET /api/user/aff': () => ok('abcde23456'),
    'GET /api/user/check_in_status': () => ok({ can_check_in: true }),
    'GET /api/user/sessions': () => ok(SESSIONS),
    'GET /api/user/security': () => ok(SECURITY),
    'GET /api/user/token': () => ok(`tga_${'x7Kd'.repeat(10)}`),
    'POST /api/user/totp/begin': () =>
      ok({ secret: SECRET, uri: `otpauth://totp/Tallygate:mia?secret=${SECRET}` }),
    'POST /api/user/totp': () => ok({ recovery_codes: CODES }),
  }),
)

const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).first().click()
const inDialog = (page: Page) => page.locator('[role=dialog], [role=alertdialog]').last()
const submit = (page: Page) => inDialog(page).locator('button[type="submit"]').click()
const field = (page: Page) => inDialog(page).locator('input').last()

const SETTINGS = 'form.tg-form'
const DIALOG = '.tg-dialog'

/** `part` is the part to check. The page around it is checked once. */
type Look = {
  name: string
  part?: string
  isLeft?: true
  open: (page: Page, text: Text) => Promise<unknown>
}

/**
 * These are checked in this order on one page. Each dialog is closed before the next, unless it
 * leads there.
 */
const LOOKS: readonly Look[] = [
  {
    name: 'prices',
    part: SETTINGS,
    isLeft: true,
    open: (page) => page.getByRole('tab').nth(1).click(),
  },
  {
    name: 'other',
    part: SETTINGS,
    isLeft: true,
    open: (page) => page.getByRole('tab').nth(2).click(),
  },
  {
    name: 'password',
    open: async (page, text) => {
      await press(page, text('me.changePassword'))
      await submit(page)
    },
  },
  { name: 'delete', open: (page, text) => press(page, text('me.deleteAccount')) },
  { name: 'transfer', open: (page, text) => press(page, text('me.transfer')) },
  {
    // The site has no QR code, and the dialog says so.
    name: 'wechat',
    open: async (page, text) => {
      const row = page.getByRole('listitem').filter({ hasText: text('oauth.site.wechat') })
      await row.getByRole('button').click()
      await page.getByText(text('oauth.noScan')).waitFor()
    },
  },
  { name: 'mail', open: (page, text) => press(page, text('me.changeMail')) },
  {
    name: 'passkey',
    open: async (page, text) => {
      await press(page, text('credentials.addPasskey'))
      await submit(page)
    },
  },
  { name: 'proof', isLeft: true, open: (page, text) => press(page, text('credentials.setUp')) },
  {
    name: 'totp',
    isLeft: true,
    open: async (page) => {
      await field(page).fill('password')
      await submit(page)
      await page.locator('.tg-me-qr').waitFor()
    },
  },
  {
    name: 'codes',
    isLeft: true,
    open: async (page) => {
      await field(page).fill('123456')
      await submit(page)
      await page.getByText(CODES[9] ?? '').waitFor()
    },
  },
  {
    name: 'token-sure',
    isLeft: true,
    open: async (page, text) => {
      await press(page, text('credentials.codesSaved'))
      await press(page, text('credentials.resetToken'))
      await inDialog(page).waitFor()
    },
  },
  {
    name: 'token-shown',
    part: '.tg-me-token',
    isLeft: true,
    open: async (page) => {
      await inDialog(page).getByRole('button').last().click()
      await page.locator('.tg-me-token').scrollIntoViewIfNeeded()
    },
  },
]

describe('the personal settings page, its tabs and its dialogs', () => {
  for (const language of LANGUAGES) {
    it(`have no accessibility fault at 1280 and 390 px, in either theme: ${language}`, async () => {
      const { page, faults, close } = await app.openPage({ language })
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.addInitScript((me) => localStorage.setItem('user', me), JSON.stringify(MEMBER))
      // Passkeys require a host name. They do not work for an IP address.
      await page.goto(`${app.site.url.replace('127.0.0.1', 'localhost')}/app/me`)
      await page.getByText(SECURITY.passkeys[1]?.name ?? '').waitFor()
      expect.soft(await lookFaults(page, `me-${language}`, WIDTHS)).toEqual([])
      for (const { name, part = DIALOG, isLeft, open } of LOOKS) {
        await open(page, TEXTS[language])
        const found = await lookFaults(page, `me-${name}-${language}`, [1280, 390], part)
        expect.soft(found, name).toEqual([])
        if (isLeft === true) continue
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      const reset = JSON.stringify({ ...MEMBER, must_change_password: true })
      await page.addInitScript((me) => localStorage.setItem('user', me), reset)
      await page.reload()
      await page.locator('input[autocomplete="current-password"]').waitFor()
      await page.locator('form button[type="submit"]').click()
      const own = await lookFaults(page, `own-password-${language}`, [1280, 390])
      expect.soft(own, 'own-password').toEqual([])
      expect(faults).toEqual([])
      await close()
    })
  }
})
