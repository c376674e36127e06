import { Secret, TOTP } from 'otpauth'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedBrowser } from '#test/support/browser.ts'
import { en } from '#test/support/console-texts.ts'
import { PASSWORD, type TestProduct, testProduct } from '#test/support/test-product.ts'
import { budget } from '#test/support/time-limit.ts'
import { eventually, type OpenPage, openRealPage, submitLogin } from './open-product-page.ts'

let browser: Browser
let product: TestProduct
/** Passkeys require a host name. They do not work for an IP address. */
let url: string

beforeAll(async () => {
  const roles = new Set(['write-api', 'read-api', 'projections', 'console'] as const)
  ;[browser, product] = await Promise.all([sharedBrowser(), testProduct({ roles })])
  url = product.url.replace('127.0.0.1', 'localhost')
  await product.root.must('POST', '/api/user/', { username: 'alice', password: PASSWORD })
}, 240_000)

afterAll(async () => {
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? [])
  await product?.close()
})

async function firstStep({ page }: OpenPage): Promise<void> {
  await page.goto(`${url}/login`)
  await submitLogin(page, 'alice')
}

const isIn = ({ page }: OpenPage) =>
  page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()

/** Sets up an authenticator app. Returns the secret and the recovery codes. */
async function setUpTotp({ page }: OpenPage): Promise<{ totp: TOTP; codes: string[] }> {
  await page.goto(`${url}/app/me`)
  await page.getByRole('button', { name: en('setup.submit') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: en('credentials.yourPassword') }).fill(PASSWORD)
  await dialog.getByRole('button', { name: en('credentials.continue') }).click()
  const secret = (await dialog.locator('code').innerText()).replace(/\s/g, '')
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  await page.getByLabel(en('credentials.appCode')).fill(totp.generate())
  await page.getByRole('button', { name: en('credentials.turnOn') }).click()
  await page.getByRole('button', { name: en('credentials.codesSaved') }).waitFor()
  const codes = await dialog.getByRole('listitem').allInnerTexts()
  await page.getByRole('button', { name: en('credentials.codesSaved') }).click()
  return { totp, codes }
}

async function addPasskey({ page }: OpenPage): Promise<void> {
  const protocol = await page.context().newCDPSession(page)
  await protocol.send('WebAuthn.enable')
  await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.getByRole('button', { name: en('credentials.addPasskey') }).click()
  await page.getByLabel(en('shared.name')).fill('laptop')
  await page.getByRole('textbox', { name: en('credentials.yourPassword') }).fill(PASSWORD)
  await page.getByRole('button', { name: en('credentials.continue') }).click()
  await page.getByText(en('credentials.neverUsed')).waitFor()
}

async function replaceCodesByPasskey({ page }: OpenPage): Promise<string[]> {
  await page.goto(`${url}/app/me`)
  await page.getByRole('button', { name: en('credentials.newCodes') }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: en('auth.usePasskey') })
    .click()
  await page.getByRole('button', { name: en('credentials.codesSaved') }).waitFor()
  const codes = await page.getByRole('dialog').getByRole('listitem').allInnerTexts()
  await page.getByRole('button', { name: en('credentials.codesSaved') }).click()
  return codes
}

async function changePassword({ page }: OpenPage): Promise<void> {
  await page.getByRole('button', { name: en('me.changePassword') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: en('me.currentPassword') }).fill(PASSWORD)
  await dialog
    .getByRole('textbox', { name: en('ui.newPassword'), exact: true })
    .fill('another password')
  await dialog.getByRole('textbox', { name: en('me.newPasswordAgain') }).fill('another password')
  await dialog.getByRole('button', { name: en('me.changePassword') }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
}

describe('two-step login in a browser', () => {
  it('is set up, is required, and accepts a code, a recovery code and a passkey', async () => {
    const here = await openRealPage(browser, url)
    await firstStep(here)
    await isIn(here)
    const { totp, codes } = await setUpTotp(here)
    expect(codes).toHaveLength(10)
    await here.page.getByText(en('credentials.codesLeft', { count: 10 })).waitFor()

    const there = await openRealPage(browser, url)
    await firstStep(there)
    await there.page.getByRole('heading', { name: en('ui.twoStepLogin') }).waitFor()
    // The code of the confirmation was used. The next code is already accepted.
    const next = totp.generate({ timestamp: Date.now() + 30_000 })
    await there.page.getByLabel(en('ui.verificationCode'), { exact: true }).fill(next)
    await there.page.getByRole('button', { name: en('auth.verify') }).click()
    await isIn(there)

    await addPasskey(here)
    await here.page.context().clearCookies()
    await here.page.evaluate(() => localStorage.removeItem('user'))
    await here.page.goto(`${url}/login`)
    await here.page.getByRole('button', { name: en('auth.signInWithPasskey') }).click()
    await isIn(here)
    // The passkey also proves the identity, without a password or code.
    const fresh = await replaceCodesByPasskey(here)
    expect(fresh).not.toContain(codes[1])

    const third = await openRealPage(browser, url)
    await firstStep(third)
    await third.page.getByRole('button', { name: en('auth.useRecovery') }).click()
    await third.page.getByLabel(en('auth.recoveryCode')).fill(fresh[0] ?? '')
    await third.page.getByRole('button', { name: en('auth.verify') }).click()
    await isIn(third)
    await third.page.goto(`${url}/app/me`)
    await third.page.getByText(en('credentials.codesLeft', { count: 9 })).waitFor()
    const sessions = third.page
      .getByRole('table', { name: en('credentials.sessions') })
      .locator('tbody tr')
    await eventually(() => sessions.count()).toBe(4)
    expect([here, there, third].flatMap(({ faults }) => faults)).toEqual([])

    // After a change of the password, the other sessions end, even on pages that nobody uses.
    const left = there.page.waitForURL('**/login?expired=true**')
    await changePassword(third)
    const changedAt = performance.now()
    await left
    expect(performance.now() - changedAt).toBeLessThan(budget(1_000))
    await third.page.reload()
    await eventually(() => sessions.count()).toBe(1)
  })
})
