import type { TaskRecord } from '#domain/tasks/decide.ts'
import { type JsonObject, objectOf, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { answerScreen } from '../screening/word-screening.ts'
import { listOfObjects, parsedJson } from './parse-provider-json.ts'
import type { ProviderReport } from './read-provider-task-answers.ts'
import type { TaskDeps } from './task-deps.ts'

/** The actions of drawings whose result is a text. All others make pictures or videos. */
const TEXT_ACTIONS: ReadonlySet<string> = new Set(['DESCRIBE', 'SHORTEN'])
/** The result that is stored in place of one with a screened word. */
export const WITHHELD_RESULT = JSON.stringify({ withheld: 'sensitive_answer' })

/**
 * Returns a provider's report without the texts that contain a screened word. Songs, lyrics and
 * texts about pictures are withheld as a whole, as the answers of calls are. Of a task that made a
 * picture or a video, only the texts beside it are left out. The task is recorded as a success, so
 * that it is charged. The texts are not stored, so that neither the API nor the console shows them.
 */
export async function withoutScreenedTexts(
  { views }: Pick<TaskDeps, 'views'>,
  { submitted: { group, kind, action } }: TaskRecord,
  report: ProviderReport,
): Promise<ProviderReport> {
  if (report.status !== 'SUCCESS' || kind === 'video') return report
  const screen = answerScreen(views.options.options.screening, group)
  if (screen === null) return report
  const { promptEn } = report
  const result = parsedJson(Buffer.from(report.result ?? 'null'))
  const texts = kind === 'music' ? withoutAddresses(result) : textsOfDrawing(objectOrEmpty(result))
  if (await screen.isCleanValue([promptEn ?? '', texts])) return report
  if (kind === 'music' || TEXT_ACTIONS.has(action)) {
    return { ...report, imageUrl: null, promptEn: null, result: WITHHELD_RESULT }
  }
  const { prompt: _, properties: __, ...others } = objectOrEmpty(result)
  return { ...report, promptEn: null, result: JSON.stringify(others) }
}

const textsOfDrawing = ({ prompt, properties, buttons }: JsonObject): unknown => [
  ...[prompt, properties, listOfObjects(buttons).map(({ label }) => label)],
]

/** The members of a song that contain an id or an address, which are no text of the song. */
const ADDRESS = /(?:^|_)(?:id|url)$/i

function withoutAddresses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAddresses)
  const members = objectOf(value)
  if (members === null) return value
  return Object.entries(members).flatMap(([name, member]) =>
    ADDRESS.test(name) && typeof member === 'string' ? [] : [withoutAddresses(member)],
  )
}
