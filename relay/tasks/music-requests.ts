import { TASK_MEMBERS } from '#domain/channel/restricted-members.ts'
import { knownNames } from '#domain/shared/folded-name.ts'
import type { TaskRequest } from './plan-task.ts'
import { refuseParam, type TaskBody, TEXT_LENGTH_MAX, without } from './task-body.ts'

const ACTIONS: ReadonlyMap<string, string> = new Map([
  ['music', 'MUSIC'],
  ['lyrics', 'LYRICS'],
])

/** The members of a song's request that are read here, or replaced. */
export const MUSIC_NAMES = knownNames([
  ...['prompt', 'gpt_description_prompt', 'continue_clip_id', 'task_id', 'tags', 'title'],
  ...['notify_hook', 'ids', 'action', ...TASK_MEMBERS.music],
])

/** What a song is asked for by; its style is enough for one without words. */
const WORDS = 'prompt / gpt_description_prompt'
const STYLE = ['tags', 'title'] as const

/** By the last part of its path; undefined: there is none. */
export const musicAction = (segment: string): string | undefined =>
  ACTIONS.get(segment.toLowerCase())

export function readMusic(action: string, body: TaskBody): TaskRequest {
  const prompt = body.text('prompt', TEXT_LENGTH_MAX)
  const described = body.text('gpt_description_prompt', TEXT_LENGTH_MAX)
  if (action === 'LYRICS' && prompt === null) refuseParam('prompt', true)
  const goesOn = body.text('continue_clip_id') !== null
  const originId = body.text('task_id')
  const isAsked = prompt !== null || described !== null || goesOn
  if (!isAsked && !STYLE.some((name) => body.has(name))) refuseParam(WORDS, true)
  if (goesOn && originId === null) refuseParam('task_id', true)
  return {
    kind: 'music',
    platform: 'suno',
    action,
    model: `suno_${action.toLowerCase()}`,
    prompt: prompt ?? described,
    state: null,
    originId,
    continuesOpen: false,
    path: `/suno/submit/${action}`,
    body,
    droppedBy: (allowed) => body.restricted(TASK_MEMBERS.music, allowed),
    sentBody: ({ origin, allowed }) =>
      body.with(
        new Map<string, unknown>([
          ...without(body.restricted(TASK_MEMBERS.music, allowed)),
          ['notify_hook', undefined],
          ['task_id', origin?.place?.upstreamId],
        ]),
      ),
  }
}
