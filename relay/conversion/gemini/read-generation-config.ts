import { isObject, type JsonObject, scalarText } from '#relay/canonical/json-values.ts'
import {
  type AnswerFormat,
  type CanonicalRequest,
  ConversionError,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import {
  booleanMember,
  integerMember,
  listOrSingle,
  type Members,
  membersOf,
  numberMember,
  reportUnknownMembers,
  textMember,
} from './members-in-either-spelling.ts'
import { readGeminiSchema } from './read-gemini-schema.ts'
import { readThinkingConfig } from './thinking-config.ts'

const PATH = 'generationConfig'
const NAMES = new Set([
  ...['temperature', 'topP', 'topK', 'seed', 'candidateCount', 'maxOutputTokens', 'stopSequences'],
  ...['presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs', 'thinkingConfig'],
  ...['responseMimeType', 'responseSchema', 'responseJsonSchema', 'responseModalities'],
  'responseFormat',
])

type Generation = Pick<
  CanonicalRequest,
  'outputTokensMax' | 'sampling' | 'thinking' | 'answerFormat' | 'logprobs'
>

/** Reads `generationConfig`. */
export function readGenerationConfig(value: unknown, losses: string[]): Generation {
  const config = membersOf(value ?? {}, PATH)
  reportUnknownMembers(config, NAMES, PATH, losses)
  reportModalities(config, losses)
  return {
    outputTokensMax: integerMember(config, 'maxOutputTokens', PATH),
    sampling: {
      choices: integerMember(config, 'candidateCount', PATH),
      temperature: numberMember(config, 'temperature', PATH),
      topP: numberMember(config, 'topP', PATH),
      topK: numberMember(config, 'topK', PATH),
      seed: integerMember(config, 'seed', PATH),
      presencePenalty: numberMember(config, 'presencePenalty', PATH),
      frequencyPenalty: numberMember(config, 'frequencyPenalty', PATH),
      stop: readStopSequences(config),
    },
    thinking: readThinkingConfig(config.get('thinkingConfig'), `${PATH}.thinkingConfig`, losses),
    answerFormat: readAnswerFormat(config, losses),
    logprobs: readLogprobsCount(config, losses),
  }
}

function readStopSequences(config: Members): readonly string[] {
  const path = `${PATH}.stopSequences`
  const value = config.get('stopSequences')
  return listOrSingle(typeof value === 'string' ? [value] : value, path).map((text, index) => {
    if (typeof text === 'string') return text
    throw new ConversionError(`${path}[${index}]`, `${path}[${index}] must be a text`)
  })
}

/**
 * Reports requested modalities other than text as lost, because the answers of other formats
 * contain only text.
 */
function reportModalities(config: Members, losses: string[]): void {
  const value = config.get('responseModalities')
  // The API also accepts one value in place of a list.
  const modalities = [value ?? []].flat()
  if (modalities.some((each) => scalarText(each).toUpperCase() !== 'TEXT')) {
    addLoss(losses, `${PATH}.responseModalities`)
  }
}

function readLogprobsCount(config: Members, losses: string[]): number | null {
  const count = integerMember(config, 'logprobs', PATH)
  if (booleanMember(config, 'responseLogprobs', PATH) === true) return count ?? 0
  if (count !== null) addLoss(losses, `${PATH}.logprobs`)
  return null
}

function readAnswerFormat(config: Members, losses: string[]): AnswerFormat | null {
  if (config.has('responseFormat')) return readResponseFormat(config, losses)
  const type = textMember(config, 'responseMimeType', PATH) ?? 'text/plain'
  const schema = readAnswerSchema(config)
  if (type === 'application/json') {
    return schema === null
      ? { kind: 'json' }
      : { kind: 'schema', name: 'answer', schema, isStrict: null }
  }
  if (type !== 'text/plain') addLoss(losses, `${PATH}.responseMimeType`)
  if (schema !== null) addLoss(losses, `${PATH}.responseSchema`)
  return null
}

/**
 * Reads `responseFormat`. If this member is present, `responseMimeType`, `responseSchema` and
 * `responseJsonSchema` are ignored.
 */
function readResponseFormat(config: Members, losses: string[]): AnswerFormat | null {
  const path = `${PATH}.responseFormat`
  let format: AnswerFormat | null = null
  for (const [index, value] of listOrSingle(config.get('responseFormat'), path).entries()) {
    const at = `${path}[${index}]`
    const members = membersOf(value, at)
    reportUnknownMembers(members, new Set(['text']), at, losses)
    if (!members.has('text')) continue
    const text = membersOf(members.get('text'), `${at}.text`)
    reportUnknownMembers(text, new Set(['mimeType', 'schema']), `${at}.text`, losses)
    const type = textMember(text, 'mimeType', `${at}.text`) ?? 'text/plain'
    const schema = text.get('schema')
    if (/json$/i.test(type)) {
      format = isObject(schema)
        ? { kind: 'schema', name: 'answer', schema, isStrict: null }
        : { kind: 'json' }
    } else if (schema !== undefined) addLoss(losses, `${at}.text.schema`)
  }
  return format
}

function readAnswerSchema(config: Members): JsonObject | null {
  const jsonSchema = config.get('responseJsonSchema')
  if (jsonSchema !== undefined) {
    if (isObject(jsonSchema)) return jsonSchema
    const path = `${PATH}.responseJsonSchema`
    throw new ConversionError(path, `${path} must be an object`)
  }
  const schema = config.get('responseSchema')
  return schema === undefined ? null : readGeminiSchema(schema, `${PATH}.responseSchema`)
}
