import { beforeAll, expect, it } from 'vitest'
import { takePicture } from '#test/console/support/open-page.ts'
import { en } from '#test/support/console-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  ALL_ROLES,
  addChannel,
  addUser,
  chat,
  setOption,
  testProduct,
} from '#test/support/test-product.ts'
import { realPage, submitLogin } from './open-product-page.ts'

const product = startedOnce(() => testProduct({ roles: ALL_ROLES }))
const app = realPage(() => product.url)
const COPIES = '/app/audit/proofs?tab=copies'
let incident = 0

beforeAll(async () => {
  const { root } = product
  await setOption(root, 'ModelRatio', { 'sim-small': 10 })
  await addChannel(product, { name: 'main', models: 'sim-small' })
  const { id, client } = await addUser(root, 'customer', 100_000_000)
  const { key } = await client.createToken({ name: 'phone', unlimited_quota: true })
  await chat(product.url, key, { model: 'sim-small', max_tokens: 4 })
  await root.must('POST', '/api/user/manage', { id, action: 'appoint_auditor' })
  incident = await product.running.core.store.headPosition()
  await chat(product.url, key, { model: 'sim-small', max_tokens: 4 })
  await app.page.goto(`${product.url}/login`)
  await submitLogin(app.page, 'root')
  await app.page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
})

it('an admin looks at the site before an event, and leaves the copy again', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/audit/events?position=${incident}`)
  await page
    .getByRole('link', { name: en('audit.events.siteBefore') })
    .first()
    .click()
  const last = page.getByRole('textbox', { name: en('audit.copies.lastPosition') })
  await expect.poll(() => last.inputValue()).toBe(String(incident - 1))
  await page.getByRole('button', { name: en('audit.copies.create') }).click()
  await page.getByRole('button', { name: en('audit.copies.open') }).click()
  const banner = page.getByText(/up to event #/)
  await banner.waitFor()
  await expect.poll(() => banner.textContent()).toContain(`#${incident - 1}`)
  const grid = page.getByRole('grid')
  await grid.getByRole('row').filter({ hasText: 'sim-small' }).first().waitFor()
  await takePicture(page, 'copy-log')
  await expect.poll(() => grid.getByRole('row').filter({ hasText: 'sim-small' }).count()).toBe(1)
  await page.goto(`${product.url}/admin/users`)
  await banner.waitFor()
  await page.getByText('customer').first().waitFor()
  await page.goto(`${product.url}/admin/settings`)
  await page.getByText(en('shell.copyLacksPage')).waitFor()
  await page
    .getByRole('button', { name: en('shell.copyLeave') })
    .first()
    .click()
  await page.getByRole('button', { name: en('shared.delete') }).waitFor()
  await expect.poll(() => banner.count()).toBe(0)
  expect(faults).toEqual([])
})

it('every page of a copy is shown without an error, and a change is refused', async () => {
  const { page, faults } = app
  await page.goto(product.url + COPIES)
  await page.getByRole('button', { name: en('audit.copies.open') }).click()
  await page.getByText(/up to event #/).waitFor()
  const wrong: string[] = []
  page.on('response', (response) => {
    const path = new URL(response.url()).pathname
    if (response.status() >= 400) wrong.push(`${response.status()} ${path}`)
  })
  const links = page.getByRole('navigation', { name: en('shell.navigation') }).getByRole('link')
  const paths = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
  expect(paths).toContain('/admin/channels')
  expect(paths).not.toContain('/admin/settings')
  for (const path of paths.filter((one) => one.startsWith('/a'))) {
    await page.goto(product.url + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await takePicture(page, `copy${path.replaceAll('/', '-')}`)
  }
  expect(wrong).toEqual([])
  await page.goto(`${product.url}/app/tokens`)
  const answer = await page.evaluate(async () => {
    const copy = JSON.parse(sessionStorage.getItem('scratch-copy') ?? '{}')
    const headers = { 'X-Scratch-Copy': copy.id, 'content-type': 'application/json' }
    const sent = await fetch('/api/token/', { method: 'POST', headers, body: '{}' })
    return sent.status
  })
  expect(answer).toBe(409)
  expect(faults.filter((fault) => !fault.includes('409'))).toEqual([])
})

it('a copy that was deleted elsewhere says so, and leads back', async () => {
  const { page } = app
  const { items } = await product.root.must<{ items: { id: string; status: string }[] }>(
    ...(['GET', '/api/audit/scratch-copies'] as const),
  )
  const ready = items.find(({ status }) => status === 'ready')
  await product.root.must('DELETE', `/api/audit/scratch-copies/${ready?.id}`)
  const pageFaults: string[] = []
  page.on('pageerror', (error) => pageFaults.push(error.message))
  await page.goto(`${product.url}/admin/users`)
  await page.getByText(en('shell.copyGone')).waitFor()
  await page
    .getByRole('button', { name: en('shell.copyLeave') })
    .first()
    .click()
  await page.getByText(en('audit.copies.status.deleted')).waitFor()
  await takePicture(page, 'copies-deleted')
  expect(pageFaults).toEqual([])
})
