import { TASK_MEMBERS } from '#domain/channels/restricted-request-members.ts'
import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { relayError } from '../canonical/relay-error.ts'
import type { TaskOptions } from '../views/option-view.ts'
import type { SendOptions, TaskRequest } from './plan-task.ts'
import {
  notPossible,
  rejectParam,
  type TaskBody,
  TaskRequestError,
  TEXT_LENGTH_MAX,
  without,
} from './read-task-request-body.ts'

/**
 * Maps the `customId` of a button below a drawing to the action of the button. The first pattern
 * that matches applies.
 */
const BUTTONS: readonly (readonly [RegExp, string])[] = [
  [/^MJ::JOB::(?:upsample|video_virtual_upscale)/i, 'UPSCALE'],
  // This pattern also matches the buttons that extend a video.
  [/^MJ::JOB::animate_/i, 'VIDEO'],
  [/^MJ::JOB::low_variation/i, 'LOW_VARIATION'],
  [/^MJ::JOB::high_variation/i, 'HIGH_VARIATION'],
  [/^MJ::JOB::variation/i, 'VARIATION'],
  [/^MJ::JOB::reroll/i, 'REROLL'],
  [/^MJ::JOB::pan_/i, 'PAN'],
  [/^MJ::CustomZoom::/i, 'CUSTOM_ZOOM'],
  [/^MJ::Outpaint::/i, 'ZOOM'],
  [/^MJ::Inpaint::/i, 'INPAINT'],
]

/** Returns the action of a button, or null if the button is unknown and therefore has no price. */
const actionOfButton = (customId: string): string | null =>
  BUTTONS.find(([pattern]) => pattern.test(customId))?.[1] ?? null

/** The members of a drawing request that the gateway reads or replaces. */
export const DRAWING_NAMES = namesByFoldedName([
  ...['prompt', 'taskId', 'action', 'index', 'content', 'customId', 'link', 'state', 'ids'],
  ...['base64', 'base64Array', 'sourceBase64', 'targetBase64', 'accountFilter', 'notifyHook'],
  ...['image', 'endImage', 'maskBase64'],
  ...TASK_MEMBERS.drawing,
])
const FILTER_NAMES = namesByFoldedName(['modes'])

/**
 * The properties of a drawing request that depend on its action. `changes` returns the members that
 * replace the caller's members in the request to the provider.
 */
type ActionRequest = {
  readonly action: string
  readonly model?: string
  readonly prompt?: string | null
  readonly originId?: string | null
  readonly changes?: (options: SendOptions) => readonly (readonly [string, unknown])[]
}

export type DrawingReader = (body: TaskBody) => ActionRequest

/**
 * Replaces `taskId`, the gateway's id of the continued task, with the provider's id of that task.
 */
const withOrigin: ActionRequest['changes'] = ({ origin }) => [['taskId', origin?.place?.upstreamId]]

const CHANGES = new Set(['UPSCALE', 'VARIATION', 'REROLL'])

const change: DrawingReader = (body) => {
  const originId = body.requireText('taskId')
  const action = body.requireText('action').toUpperCase()
  if (!CHANGES.has(action)) notPossible('action', [...CHANGES])
  const index = body.integer('index', 1, 4)
  if (index === null && action !== 'REROLL') rejectParam('index', true)
  return { action, originId, changes: withOrigin }
}

const SIMPLE = /^(\S{1,64}) ([UVR])([1-4])?$/i
const SHORT_FORMS = ['"<task id> U1"', '"<task id> V1"', '"<task id> R"']
const LETTERS: Readonly<Record<string, string>> = { U: 'UPSCALE', V: 'VARIATION', R: 'REROLL' }

/**
 * Reads a request to change a drawing in its short form, such as `<task> U2`. The short form
 * consists of a task id, a letter for the action and the number of a picture.
 */
const simpleChange: DrawingReader = (body) => {
  const [, originId = '', letter = '', index] =
    SIMPLE.exec(body.requireText('content').trim()) ?? []
  const action = LETTERS[letter.toUpperCase()] ?? notPossible('content', SHORT_FORMS)
  if (index === undefined && action !== 'REROLL') notPossible('content', SHORT_FORMS)
  const rest = `${letter.toUpperCase()}${index ?? ''}`
  const changes: ActionRequest['changes'] = ({ origin }) => [
    ['content', `${origin?.place?.upstreamId} ${rest}`],
  ]
  return { action, originId, changes }
}

const button: DrawingReader = (body) => {
  const originId = body.requireText('taskId')
  const action = actionOfButton(body.requireText('customId')) ?? rejectParam('customId')
  return { action, originId, changes: withOrigin }
}

const modal: DrawingReader = (body) => ({
  action: 'MODAL',
  originId: body.requireText('taskId'),
  prompt: body.text('prompt', TEXT_LENGTH_MAX),
  changes: withOrigin,
})

const describe: DrawingReader = (body) => {
  if (body.text('link') === null) body.requirePicture('base64')
  return { action: 'DESCRIBE' }
}

/**
 * Reads a request to edit pictures according to a prompt. A mask limits the edit to a part of the
 * picture.
 */
const edits: DrawingReader = (body) => {
  const prompt = body.requireText('prompt', TEXT_LENGTH_MAX)
  if (body.has('base64Array')) body.requirePictures('base64Array', 1, 10)
  else body.requirePicture(body.has('image') ? 'image' : 'base64')
  if (body.has('maskBase64')) body.requirePicture('maskBase64')
  return { action: 'EDITS', prompt }
}

/**
 * Reads a request for a video. The video begins with a picture of an earlier task, with a picture
 * of the request, or with a picture whose address is in the prompt.
 */
const video: DrawingReader = (body) => {
  const prompt = body.text('prompt', TEXT_LENGTH_MAX)
  const originId = body.text('taskId')
  for (const name of ['image', 'endImage']) if (body.has(name)) body.requirePicture(name)
  if (originId !== null) {
    body.integer('index', 0, 4)
    return { action: 'VIDEO', prompt, originId, changes: withOrigin }
  }
  if (prompt === null && !body.has('image')) rejectParam('image', true)
  return { action: 'VIDEO', prompt }
}

const READERS: ReadonlyMap<string, DrawingReader> = new Map<string, DrawingReader>([
  [
    'imagine',
    (body) => ({ action: 'IMAGINE', prompt: body.requireText('prompt', TEXT_LENGTH_MAX) }),
  ],
  [
    'shorten',
    (body) => ({ action: 'SHORTEN', prompt: body.requireText('prompt', TEXT_LENGTH_MAX) }),
  ],
  ['change', change],
  ['simple-change', simpleChange],
  ['action', button],
  ['modal', modal],
  ['describe', describe],
  ['edits', edits],
  ['video', video],
  [
    'blend',
    (body) => {
      body.requirePictures('base64Array', 2, 5)
      return { action: 'BLEND' }
    },
  ],
  [
    'upload-discord-images',
    (body) => {
      body.requirePictures('base64Array', 1, 10)
      return { action: 'UPLOAD' }
    },
  ],
])

const swap: DrawingReader = (body) => {
  body.requirePicture('sourceBase64')
  body.requirePicture('targetBase64')
  return { action: 'SWAP_FACE', model: 'swap_face' }
}

const SWAP_PATH = '/mj/insight-face/swap'

/**
 * Returns the function that reads requests to a path below `/mj`, or undefined for an unknown path.
 */
export function drawingReader(path: string): DrawingReader | undefined {
  if (path === '/insight-face/swap') return swap
  return path.startsWith('/submit/') ? READERS.get(path.slice('/submit/'.length)) : undefined
}

/**
 * Matches the flags in a prompt that select a speed, such as `--fast`. A long dash matches as well,
 * because Midjourney reads it as two hyphens.
 */
const MODE_FLAGS = /\s?(?:--|[–—]{1,2})(fast|relax|turbo)(?=\s|$)/gi

/** Returns the names of the flags for a speed in a prompt, such as `prompt --fast`. */
function modeFlagsIn(prompt: string | null): readonly string[] {
  const names = [...(prompt ?? '').matchAll(MODE_FLAGS)].map(([, name = '']) => name.toLowerCase())
  return [...new Set(names)].map((name) => `prompt --${name}`)
}

/** Matches the flag in a prompt with which Midjourney makes a video and not a picture. */
const VIDEO_FLAG = /(?:--|[–—]{1,2})video\b/i

/**
 * Throws `TaskRequestError` if the prompt in a request for a picture asks for a video. A video
 * costs several times as much as a picture, and only `/mj/submit/video` has the price of a video.
 */
function refuseVideoFlag(action: string, prompt: string | null): void {
  if (action === 'VIDEO' || prompt === null || !VIDEO_FLAG.test(prompt)) return
  throw new TaskRequestError(relayError('parameter_not_supported', { param: 'prompt --video' }))
}

/** The model name under which videos of drawing providers are priced. */
export const VIDEO_MODEL = 'mj_video'

/**
 * The actions that make no new video even if they continue a video. `UPSCALE` is a request about a
 * single picture. `INPAINT` and `CUSTOM_ZOOM` are first steps, and their modal steps determine the
 * charge.
 */
const WITHOUT_ANOTHER_VIDEO: ReadonlySet<string> = new Set(['UPSCALE', 'INPAINT', 'CUSTOM_ZOOM'])

/**
 * Returns the request with the model whose price applies. A request that continues a video has the
 * price of a video, because a repeated or varied video costs several times as much as a picture. A
 * modal step completes the task that it continues. As long as this task is open, its first step
 * pays for the result, and the account admits the modal step only as a step of this task
 * (`stepOf`). `isOfVideo` reports whether the result of a task is a video. It is called only if the
 * price depends on this.
 */
export async function atPriceOfOrigin(
  request: TaskRequest,
  origin: TaskRecord | null,
  isOfVideo: (task: TaskRecord) => Promise<boolean>,
): Promise<TaskRequest> {
  const { kind, action } = request
  if (kind !== 'drawing' || origin === null) return request
  if (action === 'MODAL' && origin.end === null) {
    return { ...request, stepOf: origin.submitted.task }
  }
  if (WITHOUT_ANOTHER_VIDEO.has(action) || !(await isOfVideo(origin))) return request
  return { ...request, model: VIDEO_MODEL }
}

/**
 * Reads a drawing request. `mode` is the speed that the URL names (`FAST`, `RELAX` or `TURBO`), or
 * null if the provider selects the speed.
 */
export function readDrawing(
  path: string,
  reader: DrawingReader,
  body: TaskBody,
  { mode, options }: { readonly mode: string | null; readonly options: TaskOptions },
): TaskRequest {
  const { action, model, prompt = null, originId = null, changes = () => [] } = reader(body)
  const sentFilter = body.object('accountFilter', FILTER_NAMES)
  const allowed = options.isAccountFilterAllowed && sentFilter !== null ? sentFilter : undefined
  const accountFilter = mode === null ? allowed : { ...allowed, modes: [mode] }
  const shownPrompt =
    prompt !== null && options.isModeCleared ? prompt.replace(MODE_FLAGS, '') : prompt
  refuseVideoFlag(action, shownPrompt)
  return {
    kind: 'drawing',
    platform: 'midjourney',
    action,
    model: model ?? `mj_${action.toLowerCase()}`,
    prompt: shownPrompt,
    state: body.text('state'),
    originId,
    continuesOpen: action === 'MODAL',
    path: path === '/insight-face/swap' ? SWAP_PATH : `/mj${path}`,
    body,
    droppedMembers: (allowed) => [
      ...body.restricted(TASK_MEMBERS.drawing, allowed),
      ...(shownPrompt === prompt ? [] : modeFlagsIn(prompt)),
    ],
    providerBody: (options) =>
      body.with(
        new Map<string, unknown>([
          ...without(body.restricted(TASK_MEMBERS.drawing, options.allowed)),
          ...body.withoutCallbacks(),
          ['notifyHook', options.notifyUrl ?? undefined],
          ['accountFilter', accountFilter],
          ...(shownPrompt === prompt ? [] : [['prompt', shownPrompt] as const]),
          ...changes(options),
        ]),
      ),
  }
}
