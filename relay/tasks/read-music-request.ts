import { TASK_MEMBERS } from '#domain/channels/restricted-request-members.ts'
import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import type { TaskRequest } from './plan-task.ts'
import { rejectParam, type TaskBody, TEXT_LENGTH_MAX, without } from './read-task-request-body.ts'

const ACTIONS: ReadonlyMap<string, string> = new Map([
  ['music', 'MUSIC'],
  ['lyrics', 'LYRICS'],
])

/** The members of a music request that the gateway reads or replaces. */
export const MUSIC_NAMES = namesByFoldedName([
  ...['prompt', 'gpt_description_prompt', 'continue_clip_id', 'task_id', 'tags', 'title'],
  ...['notify_hook', 'ids', 'action', ...TASK_MEMBERS.music],
])

/** The member names in the error for a request with neither a prompt nor a style. */
const PROMPT_MEMBERS = 'prompt / gpt_description_prompt'
const STYLE = ['tags', 'title'] as const

/**
 * Returns the action that the last segment of a path names, or undefined for an unknown segment.
 */
export const musicAction = (segment: string): string | undefined =>
  ACTIONS.get(segment.toLowerCase())

export function readMusic(action: string, body: TaskBody): TaskRequest {
  const prompt = body.text('prompt', TEXT_LENGTH_MAX)
  const described = body.text('gpt_description_prompt', TEXT_LENGTH_MAX)
  if (action === 'LYRICS' && prompt === null) rejectParam('prompt', true)
  const continues = body.text('continue_clip_id') !== null
  const originId = body.text('task_id')
  const hasPrompt = prompt !== null || described !== null || continues
  if (!hasPrompt && !STYLE.some((name) => body.has(name))) rejectParam(PROMPT_MEMBERS, true)
  if (continues && originId === null) rejectParam('task_id', true)
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
    droppedMembers: (allowed) => body.restricted(TASK_MEMBERS.music, allowed),
    providerBody: ({ origin, allowed }) =>
      body.with(
        new Map<string, unknown>([
          ...without(body.restricted(TASK_MEMBERS.music, allowed)),
          ...body.withoutCallbacks(),
          ['task_id', origin?.place?.upstreamId],
        ]),
      ),
  }
}
