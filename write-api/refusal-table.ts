import type { Refusal } from '#domain/shared/refusal.ts'
import type { Words } from '#infra/http/language.ts'

export type Details = NonNullable<Refusal['details']>
type Wording = Words | ((details: Details) => Words)

/** HTTP status and words of each refusal. 200: a rule of the business said no. */
export type Refusals<Code extends string> = Readonly<
  Record<Code, readonly [status: number, Wording]>
>
