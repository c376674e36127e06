import { PROFILES, TASK_PROFILES } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import { FAMILIES } from '../clients/provider-families.ts'
import { VIDEO_SCRIPTS, type VideoScript } from '../tasks/video-scripts.ts'
import { PROVIDER_SCRIPTS } from './translated-provider-scripts.ts'

/**
 * The types that `providers/openai-compatible-types.test.ts` calls. Clouds and providers of other
 * formats have other tests.
 */
export const OPENAI_COMPATIBLE_TYPES = PROFILES.filter(
  ({ id, endpoints: [first], cloud }) =>
    first?.format === 'chat' && cloud === undefined && !PROVIDER_SCRIPTS.has(id),
)

/** The types of drawings and music, which `tasks/every-task-type.test.ts` calls. */
export const DRAWING_AND_MUSIC_TYPES = TASK_PROFILES.flatMap(({ id, name, tasks }) =>
  tasks?.kind === 'drawing' || tasks?.kind === 'music'
    ? [{ type: id, name, kind: tasks.kind }]
    : [],
)

export type VideoType = {
  readonly type: number
  readonly name: string
  readonly vendor: string
  readonly script: VideoScript
}

/** The types that serve videos, each of which `tasks/videos.test.ts` calls. */
export const VIDEO_TYPES: readonly VideoType[] = [...PROFILES, ...TASK_PROFILES].flatMap(
  ({ id, name, videos }) => {
    const script = videos === undefined ? undefined : VIDEO_SCRIPTS[videos.vendor]
    if (videos === undefined || script === undefined) return []
    return [{ type: id, name, vendor: videos.vendor, script }]
  },
)

/**
 * The types that a test calls with a scripted provider. Each test makes a plain and a streamed
 * call, bills both to the unit, and charges nothing for an error.
 */
export const TYPES_WITH_CALLS: ReadonlySet<number> = new Set([
  ...OPENAI_COMPATIBLE_TYPES.map(({ id }) => id),
  // `providers/translated-providers.test.ts`.
  ...PROVIDER_SCRIPTS.keys(),
  // `clients/every-format-and-provider.test.ts`.
  ...FAMILIES.flatMap(({ terms }) => terms('model').type ?? []),
])

/**
 * The types that accept only tasks and that a test calls with a scripted provider. Each test bills
 * a task that succeeds to the unit, and charges nothing for one that fails.
 */
export const TYPES_WITH_TASKS: ReadonlySet<number> = new Set([
  ...DRAWING_AND_MUSIC_TYPES.map(({ type }) => type),
  ...VIDEO_TYPES.map(({ type }) => type).filter((type) =>
    TASK_PROFILES.some(({ id }) => id === type),
  ),
])
