import type { Page, Route } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { en, TEXTS, type WordKey } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { fakeLive } from '../support/fake-live-socket.ts'
import { ok, STATUS } from '../support/fake-site.ts'
import { takePicture } from '../support/open-page.ts'
import { cutAmong } from '../support/truncated-texts.ts'
import { enter, logRow } from '../usage-log/fake-usage-log.ts'
import { DRAWINGS, drawing, LYRICS, PROMPT, SONGS, song } from './fake-tasks.ts'

const DAY = 86_400
/** The cells of a list whose texts must fit completely. */
const CELLS = '.tg-grid, .tg-grid-title, .tg-grid-body :is(.tg-tag, .tg-task-progress)'
const MEMBER = {
  ...{ id: 7, username: 'mia', display_name: 'Mia', role: 1, status: 1, group: 'default' },
}

const app = pageFixture()
beforeEach(async () => {
  const list = (items: readonly unknown[]) => () => ok({ items, page: 0, total: items.length })
  Object.assign(app.site.routes, {
    'GET /api/status': () => ok({ ...STATUS, enable_drawing: true, enable_task: true }),
    'GET /api/mj/': list(DRAWINGS),
    'GET /api/mj/self': list(DRAWINGS.slice(0, 2)),
    'GET /api/task/': list(SONGS),
    'GET /api/task/self': list(SONGS),
  })
})

/** As in the product if music tasks are enabled. */
async function withMedia(route: Route): Promise<void> {
  const response = await route.fetch()
  const headers = response.headers()
  const policy = `${headers['content-security-policy']}; media-src 'self' https:`
  await route.fulfill({ response, headers: { ...headers, 'content-security-policy': policy } })
}

async function enterAt(path: string, language: 'zh' | 'en' = 'en', user?: object): Promise<Page> {
  const { page } = await app.openPage({ language })
  await page.route('**/app/logs/*', withMedia)
  await enter(page, app.site.url + path, { language }, user)
  await page.getByRole('grid').waitFor()
  const asked = () => app.site.calls.some((call) => /^\/api\/(mj|task)\//.test(call.path))
  await expect.poll(asked).toBe(true)
  return page
}

/** Opens the page as above, with empty lists. */
async function enterEmpty(path: string, user?: object): Promise<Page> {
  const { page } = await app.openPage()
  await enter(page, app.site.url + path, { language: 'en' }, user)
  return page
}

const callsTo = (path: string) => app.site.calls.filter((call) => call.path === path)
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

it('a video is played in its details, which link to its bill', async () => {
  const url = '/v1/videos/task-9/content?expires=1&signature=a'
  const made = song(9, {
    ...{ action: 'TEXT_TO_VIDEO', platform: 'sora', model: 'sora-2', status: 'SUCCESS' },
    finish_time: Math.floor(Date.now() / 1_000),
    video: { url, seconds: 8, resolution: '720p' },
  })
  app.site.routes['GET /api/task/'] = () => ok({ items: [made], page: 0, total: 1 })
  const price = { mode: 'call', list: '3', price: '0.24', per: 'second', group: '0.5' }
  const other = JSON.stringify({ price: { ...price, factor_1080p: '2.4' } })
  const bill = { ...logRow(1), request_id: 'task-9', quota: 480_000, other }
  app.site.routes['GET /api/log/'] = () => ok({ items: [bill], page: 0, total: 1 })
  const page = await enterAt('/app/logs/tasks')
  await row(page, en('taskLogs.action.TEXT_TO_VIDEO')).getByText('sora-2').waitFor()
  // The provider's answer never comes.
  await page.route('**/v1/videos/**', () => undefined)
  await row(page, en('taskLogs.action.TEXT_TO_VIDEO'))
    .getByRole('button', { name: en('taskLogs.watch') })
    .click()
  const dialog = page.getByRole('dialog')
  const video = dialog.getByLabel(en('taskLogs.video'))
  await expect.poll(() => video.getAttribute('src')).toBe(url)
  const resolution = en('shared.priceProperty.resolution', { name: '1080p' })
  const ofGroup = `×0.5 ${en('shared.factor.group')}`
  const priceText = `$0.1 ${en('ui.perSecond')} · ×2.4 ${resolution} · ${ofGroup}`
  const texts = ['sora-2', '720p', en('taskLogs.seconds', { count: 8 }), priceText, '$0.96']
  for (const text of texts) await dialog.getByText(text, { exact: true }).waitFor()
  expect(callsTo('/api/log/').at(-1)?.query.get('request_id')).toBe('task-9')
  const billLink = dialog.getByRole('link', { name: 'task-9' })
  await expect.poll(() => billLink.getAttribute('href')).toBe('/app/calls/task-9')
  await takePicture(page, 'video-task')
  await page.unroute('**/v1/videos/**')
  await dialog.getByRole('button', { name: en('ui.close') }).click()
  await page.getByRole('button', { name: en('taskLogs.watch') }).click()
  await dialog.getByText(en('taskLogs.videoFailed')).waitFor()
})

it('the details of a failed task and of a video by tokens name no price', async () => {
  const ended = { finish_time: Math.floor(Date.now() / 1_000), status: 'FAILURE' }
  const made = { platform: 'sora', model: 'sora-2', action: 'TEXT_TO_VIDEO' }
  const failed = song(9, { ...ended, ...made, fail_reason: 'unsafe prompt' })
  app.site.routes['GET /api/task/'] = () => ok({ items: [failed], page: 0, total: 1 })
  const other = JSON.stringify({ price: { mode: 'ratio', model: '2' } })
  const bill = { ...logRow(1), request_id: 'task-9', quota: 480_000, other }
  app.site.routes['GET /api/log/'] = () => ok({ items: [bill], page: 0, total: 1 })
  const page = await enterAt('/app/logs/tasks')
  await row(page, 'sora-2').getByRole('button', { name: 'unsafe prompt' }).click()
  await page.getByText('$0.96', { exact: true }).waitFor()
  const names = await page.locator('.tg-task-facts dt').allInnerTexts()
  expect(names).toContain(en('taskLogs.column.charge'))
  expect(names).not.toContain(en('taskLogs.column.price'))
})

describe('the drawing log', () => {
  it('covers thirty days and an hour; its filters are in the URL, and can be cleared', async () => {
    const page = await enterAt('/app/logs/drawing')
    await expect.poll(() => callsTo('/api/mj/').length).toBeGreaterThan(0)
    const query = callsTo('/api/mj/')[0]?.query
    const [from, to] = [Number(query?.get('start_timestamp')), Number(query?.get('end_timestamp'))]
    expect(to - from).toBe(30 * DAY + 3_600)
    const prompt = await page
      .getByRole('columnheader', { name: en('taskLogs.column.prompt') })
      .boundingBox()
    expect(prompt?.width).toBeGreaterThan(200)
    await page.getByRole('textbox', { name: en('taskLogs.column.id') }).fill('mj-1')
    await page.getByRole('textbox', { name: en('taskLogs.column.id') }).press('Enter')
    await page.getByRole('textbox', { name: en('shared.channelId') }).fill('4')
    await page.getByRole('textbox', { name: en('shared.channelId') }).press('Enter')
    await expect.poll(() => callsTo('/api/mj/').at(-1)?.query.get('channel_id')).toBe('4')
    expect(callsTo('/api/mj/').at(-1)?.query.get('mj_id')).toBe('mj-1')
    expect(new URL(page.url()).search).toBe('?id=mj-1&channel=4')
    await page.getByRole('button', { name: en('ui.clearFilters') }).click()
    await expect.poll(() => new URL(page.url()).search).toBe('')
  })

  it('explains that drawing or music is disabled instead of how to submit a task', async () => {
    const none = () => ok({ items: [], page: 0, total: 0 })
    Object.assign(app.site.routes, {
      'GET /api/status': () => ok({ ...STATUS, enable_drawing: false, enable_task: false }),
      ...{ 'GET /api/mj/': none, 'GET /api/mj/self': none },
      ...{ 'GET /api/task/': none, 'GET /api/task/self': none },
    })
    const page = await enterEmpty('/app/logs/drawing')
    await page.getByText(en('taskLogs.drawingsOff')).waitFor()
    await expect.poll(() => page.getByText('POST /mj/submit').count()).toBe(0)
    const settings = page.getByRole('link', { name: en('ui.openSettings') })
    await expect.poll(() => settings.getAttribute('href')).toBe('/admin/settings?tab=other')
    Object.assign(app.site.routes, {
      'GET /api/mj/': () => ok({ items: DRAWINGS, page: 0, total: DRAWINGS.length }),
    })
    const listed = await enterEmpty('/app/logs/drawing')
    await row(listed, '42%').waitFor()
    const note = listed.getByRole('note')
    await note.getByText(en('taskLogs.offNote', { off: en('taskLogs.drawingsOff') })).waitFor()
    await note.getByRole('link', { name: en('ui.openSettings') }).waitFor()
    const member = await enterEmpty('/app/logs/tasks', MEMBER)
    await member.getByText(en('taskLogs.musicOff')).waitFor()
    await member.getByText(en('taskLogs.offUser')).waitFor()
    await expect
      .poll(() => member.getByRole('link', { name: en('ui.openSettings') }).count())
      .toBe(0)
  })

  it('says that music is disabled above a list with music, and not above videos only', async () => {
    const video = song(2, { platform: 'sora', action: 'VIDEO', model: 'sora-2' })
    let items = [video, song(1)]
    Object.assign(app.site.routes, {
      'GET /api/status': () => ok({ ...STATUS, enable_drawing: true, enable_task: false }),
      'GET /api/task/self': () => ok({ items, page: 0, total: items.length }),
    })
    const both = await enterEmpty('/app/logs/tasks', MEMBER)
    await row(both, 'suno_music').waitFor()
    const off = en('taskLogs.offNote', { off: en('taskLogs.musicOff') })
    await both.getByText(off).waitFor()
    items = [video]
    const videos = await enterEmpty('/app/logs/tasks', MEMBER)
    await row(videos, 'sora-2').waitFor()
    expect(await videos.getByText(off).count()).toBe(0)
  })

  it('opens the image, the prompt and the reason for a failure', async () => {
    const page = await enterAt('/app/logs/drawing')
    await page
      .getByRole('button', { name: en('shared.view'), exact: true })
      .first()
      .click()
    const picture = page.getByRole('dialog', { name: en('taskLogs.image') })
    await picture.getByRole('img', { name: /lighthouse/ }).waitFor()
    await page.keyboard.press('Escape')
    await picture.waitFor({ state: 'detached' })
    const failed = row(page, 'Banned prompt')
    await failed.getByText(en('shared.taskStatus.FAILURE'), { exact: true }).waitFor()
    await expect.poll(() => failed.getByText('0%').count()).toBe(0)
    await failed.getByText('Banned prompt').click()
    await page.getByRole('dialog').getByText('a cat on a wall').waitFor()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: en('ui.close') })
      .click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await row(page, en('taskLogs.slow')).filter({ hasText: '95 s' }).waitFor()
    await page.getByRole('note').getByText(en('taskLogs.callbackOff')).waitFor()
  })

  it('uses the page size of the URL, and changes it there', async () => {
    const page = await enterAt('/app/logs/drawing?page_size=50')
    expect(callsTo('/api/mj/').map(({ query }) => query.get('page_size'))).toEqual(['50'])
    await page.getByLabel(en('ui.pageSize')).selectOption('20')
    await expect.poll(() => callsTo('/api/mj/').at(-1)?.query.get('page_size')).toBe('20')
    expect(new URL(page.url()).search).toBe('?page_size=20')
  })

  it('shows that there are more tasks than were counted', async () => {
    const more = { items: DRAWINGS, page: 0, total: 100_000, is_total_capped: true }
    app.site.routes['GET /api/mj/'] = () => ok(more)
    const page = await enterAt('/app/logs/drawing')
    await page.getByText(en('ui.rangeOf', { from: 1, to: 10, total: '100,000+' })).waitFor()
  })

  it('applies live events without a request; only a new task causes one', async () => {
    const { page } = app
    const live = await fakeLive(page)
    await enter(page, `${app.site.url}/app/logs/drawing`, { language: 'en' })
    const [first] = DRAWINGS
    await row(page, '42%').waitFor()
    await expect.poll(live.connections).toBe(1)
    await page.waitForLoadState('networkidle')
    const reads = callsTo('/api/mj/').length
    live.send('tasks', 9, {
      kind: 'progress',
      tasks: [{ id: first?.mj_id ?? '', progress: '73%' }],
    })
    await row(page, '73%').waitFor()
    const done = { ...first, status: 'SUCCESS', progress: '100%' } as typeof first & object
    live.send('tasks', 10, { kind: 'drawing', id: done.id, task: done })
    await row(page, PROMPT).getByText(en('shared.taskStatus.SUCCESS')).waitFor()
    expect(callsTo('/api/mj/').length).toBe(reads)
    live.send('tasks', 11, { kind: 'drawing', id: 50, task: drawing(50) })
    await expect.poll(() => callsTo('/api/mj/').length).toBe(reads + 1)
  })

  it('shows users only their own tasks, without channels, users or the notice', async () => {
    const page = await enterAt('/app/logs/drawing?channel=4', 'en', MEMBER)
    expect(callsTo('/api/mj/')).toEqual([])
    expect(callsTo('/api/mj/self')[0]?.query.get('channel_id')).toBeNull()
    for (const name of [en('shared.channel'), en('shared.user')]) {
      await expect.poll(() => page.getByRole('columnheader', { name, exact: true }).count()).toBe(0)
    }
    await expect.poll(() => page.getByRole('note').count()).toBe(0)
    await expect
      .poll(() => page.getByRole('textbox', { name: en('shared.channelId') }).count())
      .toBe(0)
  })
})

describe('the music log', () => {
  it('starts at midnight, plays a song, and shows its lyrics', async () => {
    const page = await enterAt('/app/logs/tasks')
    const from = Number(callsTo('/api/task/')[0]?.query.get('start_timestamp'))
    expect(from).toBe(new Date().setHours(0, 0, 0, 0) / 1_000)
    await page.getByRole('button', { name: en('taskLogs.play') }).click()
    const dialog = page.getByRole('dialog')
    await expect
      .poll(() => dialog.locator('audio').getAttribute('src'))
      .toBe('https://songs.example/rain.mp3')
    await dialog.getByText('Home is a river').waitFor()
    await dialog.getByText('jazz, slow, saxophone · 2:05').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: en('taskLogs.readLyrics'), exact: true }).click()
    await dialog.getByText(LYRICS[1]).waitFor()
    await expect.poll(() => dialog.locator('audio').count()).toBe(0)
  })
})

it('the menu and the palette list the tasks of a site that makes videos but no music', async () => {
  const videosOnly = { ...STATUS, enable_drawing: false, enable_task: false, enable_video: true }
  Object.assign(app.site.routes, {
    'GET /api/status': () => ok(videosOnly),
    'GET /api/task/self': () => ok({ items: [], page: 0, total: 0 }),
  })
  const page = await enterEmpty('/app/logs/drawing', MEMBER)
  const menu = page.getByRole('navigation', { name: en('shell.navigation') })
  const link = menu.getByRole('link', { name: en('shell.musicTasks') })
  await link.waitFor()
  await expect.poll(() => menu.getByRole('link', { name: en('shell.drawings') }).count()).toBe(0)
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: en('commands.palette') })
  const goTo = en('commands.goTo', { page: en('shell.musicTasks') })
  await palette.getByRole('option', { name: goTo }).waitFor()
  await page.keyboard.press('Escape')
  await link.click()
  await page.getByText(en('taskLogs.noVideos')).waitFor()
  await page.getByText(en('taskLogs.noVideosBody')).waitFor()
  for (const text of [en('taskLogs.musicOff'), en('taskLogs.offUser')]) {
    await expect.poll(() => page.getByText(text).count()).toBe(0)
  }
})

it('the menu lists the drawing and music logs only when the site enables them', async () => {
  const page = await enterAt('/app/logs/drawing')
  const menu = page.getByRole('navigation', { name: en('shell.navigation') })
  await menu.getByRole('link', { name: en('shell.drawings') }).waitFor()
  await menu.getByRole('link', { name: en('shell.musicTasks') }).waitFor()
  app.site.routes['GET /api/status'] = () => ok(STATUS)
  await page.reload()
  await menu.getByRole('link', { name: en('shell.usageLog') }).waitFor()
  await menu.getByRole('link', { name: en('shell.drawings') }).waitFor({ state: 'detached' })
  await expect.poll(() => menu.getByRole('link', { name: en('shell.musicTasks') }).count()).toBe(0)
})

describe.each(LANGUAGES)('the task logs in %s, in both themes', (language) => {
  const look = async (path: string, name: string, opener: WordKey): Promise<string[]> => {
    const page = await enterAt(path, language)
    await expect.poll(() => cutAmong(page, CELLS)).toEqual([])
    const faults = await lookFaults(page, `${name}-${language}`, [1280, 390])
    await page
      .getByRole('button', { name: TEXTS[language](opener), exact: true })
      .first()
      .click()
    await page.getByRole('dialog').waitFor()
    const part = '[role=dialog]'
    return [...faults, ...(await lookFaults(page, `${name}-open-${language}`, [390], part))]
  }

  it('the drawing log and an opened image have no accessibility fault', async () => {
    expect(await look('/app/logs/drawing', 'drawings', 'shared.view')).toEqual([])
  })

  it('the music log and an opened song have no accessibility fault', async () => {
    expect(await look('/app/logs/tasks', 'music', 'taskLogs.play')).toEqual([])
  })
})
