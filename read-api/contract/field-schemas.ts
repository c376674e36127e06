import Type, {
  type TBoolean,
  type TInteger,
  type TNull,
  type TOptional,
  type TSchema,
  type TString,
  type TUnion,
} from 'typebox'
import type { Field, Fields } from './resource-fields.ts'

type NullableText = TUnion<[TString, TNull]>
type Requested = {
  integer: TInteger
  text: TString
  trimmedText: NullableText
  sealedText: NullableText
  names: TString
  flag: TBoolean
  numericFlag: TInteger
}
type Answered = Omit<Requested, 'trimmedText' | 'sealedText'> & {
  trimmedText: TString
  sealedText: TString
}

type RequestProperties<F extends Fields> = {
  [Name in keyof F as F[Name]['wire']]: TOptional<Requested[F[Name]['type']]>
}
type AnswerProperties<F extends Fields> = {
  [Name in keyof F as F[Name]['wire']]: Answered[F[Name]['type']]
}

/** Returns the schemas of the fields in requests. All fields are optional and have their bounds. */
export const requestProperties = <F extends Fields>(fields: F): RequestProperties<F> =>
  byWireName(fields, (field) => Type.Optional(requestSchema(field))) as RequestProperties<F>

/** Returns the schemas of the fields in responses. */
export const answerProperties = <F extends Fields>(fields: F): AnswerProperties<F> =>
  byWireName(fields, answerSchema) as AnswerProperties<F>

const byWireName = (fields: Fields, schemaOf: (field: Field) => TSchema) =>
  Object.fromEntries(Object.values(fields).map((field) => [field.wire, schemaOf(field)]))

function requestSchema(field: Field): TSchema {
  switch (field.type) {
    case 'integer':
      return Type.Integer({ minimum: field.min, maximum: field.max })
    case 'text':
    case 'names':
      return Type.String({ maxLength: field.maxLength })
    case 'trimmedText':
    case 'sealedText':
      return Type.Union([Type.String({ maxLength: field.maxLength }), Type.Null()])
    case 'flag':
      return Type.Boolean()
    case 'numericFlag':
      return Type.Integer({ minimum: 0, maximum: 1 })
  }
}

function answerSchema({ type }: Field): TSchema {
  if (type === 'flag') return Type.Boolean()
  return type === 'integer' || type === 'numericFlag' ? Type.Integer() : Type.String()
}
