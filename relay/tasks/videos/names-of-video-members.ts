import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { NameOfMember, NamesOfOptions, VideoRequest } from './video-vendor.ts'

/**
 * For each option: its name in `VideoRequest`, the members in which requests give it, and the
 * parameter in Gemini's format, or null. If several members are present, the first one is read.
 */
const OPTIONS = [
  ['negativePrompt', ['negative_prompt'], 'negativePrompt'],
  ['seconds', ['seconds', 'duration'], 'durationSeconds'],
  ['size', ['size'], null],
  ['resolution', ['resolution'], 'resolution'],
  ['ratio', ['aspect_ratio', 'ratio'], 'aspectRatio'],
  ['seed', ['seed'], 'seed'],
  ['hasAudio', ['generate_audio', 'sound'], null],
  ['mode', ['mode'], null],
] as const satisfies readonly [keyof VideoRequest, readonly string[], string | null][]

export const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== ''

/**
 * Returns, for each option of the request, the path of the member that gave it, such as `seed` or
 * `metadata.seed`.
 */
export function namesIn(
  request: VideoRequest,
  sent: JsonObject,
  members: JsonObject,
): NamesOfOptions {
  return new Map(
    OPTIONS.flatMap(([option, names]) => {
      const name = names.find((one) => isGiven(members[one]))
      return request[option] === null || name === undefined ? [] : [[option, pathIn(sent, name)]]
    }),
  )
}

const pathIn = (sent: JsonObject, name: string): string =>
  name in sent ? name : `metadata.${name}`

export const namesInGemini = (request: VideoRequest): NamesOfOptions =>
  new Map(
    OPTIONS.flatMap(([option, , name]) =>
      request[option] === null || name === null ? [] : [[option, `parameters.${name}`]],
    ),
  )

/** The members that give a picture or the model, by the name that the gateway's errors use. */
const OTHER_NAMES = [
  ['model', ['model', 'model_name']],
  ['image', ['image', 'input_reference']],
  ['last_image', ['image_tail', 'last_image']],
] as const

/** The members with the same meaning, by the first of them. */
const SAME_MEANING: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...OPTIONS.map(([, names]) => [names[0], names] as const),
  ...OTHER_NAMES,
])

/** Applies `rename` to the first name of a path, such as `image` in `image.file_id`. */
const renamed = (path: string, rename: (name: string) => string): string =>
  path.replace(/^\w+/, rename)

/**
 * Returns the function that finds the path of the member in which the caller gave a value. The path
 * of a member that was not given is its own name.
 */
export const nameIn =
  (sent: JsonObject, members: JsonObject): NameOfMember =>
  (path) =>
    renamed(path, (name) => {
      const names = [name, ...(SAME_MEANING.get(name) ?? [])]
      const given = names.find((one) => isGiven(members[one]))
      if (given !== undefined) return pathIn(sent, given)
      const { images } = members
      const isFirst = name === 'image' && Array.isArray(images) && images.length > 0
      return isFirst ? `${pathIn(sent, 'images')}[0]` : name
    })

const GEMINI_NAMES: ReadonlyMap<string, string> = new Map([
  ...OPTIONS.flatMap(([, [name], parameter]) =>
    parameter === null ? [] : [[name, `parameters.${parameter}`] as const],
  ),
  ['prompt', 'instances.prompt'],
  ['image', 'instances.image'],
  ['last_image', 'instances.lastFrame'],
])

export const nameInGemini: NameOfMember = (path) =>
  renamed(path, (name) => GEMINI_NAMES.get(name) ?? name)
