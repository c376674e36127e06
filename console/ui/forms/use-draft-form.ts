import { type FormEvent, type RefObject, useRef, useState } from 'react'
import { ApiError } from '#console/api/api-error.ts'
import { focusFirstFault, useSubmit } from './use-submit.ts'

/** What is wrong with a draft, by field: texts, or the codes of a form's own checks. */
export type FieldErrors<Draft, Fault extends string = string> = Partial<
  Record<keyof Draft & string, Fault>
>

type Options<Draft, Fault extends string> = {
  initial: () => Draft
  /** The checks before anything is sent; `before` is the draft as it was opened. */
  validate?: (draft: Draft, before: Draft) => FieldErrors<Draft, Fault>
  faultText?: (fault: Fault) => string
  /** Sends the draft. Throws a `FieldError` for what only the attempt reveals. */
  save: (draft: Draft, before: Draft) => Promise<void>
  /** The errors of fields that another error of `save` stands for; null: it becomes a toast. */
  errorsOf?: (error: unknown) => FieldErrors<Draft> | null
  /** Submitted again while it is being sent. */
  onRepeat?: () => void
}

/** What a field takes: its value, how to change it, and what is wrong with it. */
export type FieldState<Value> = {
  value: Value
  error: string | undefined
  onChange: (value: Value) => void
}

export type DraftForm<Draft> = {
  readonly ref: RefObject<HTMLFormElement | null>
  readonly before: Draft
  readonly draft: Draft
  readonly errors: FieldErrors<Draft>
  readonly isChanged: boolean
  readonly isBusy: boolean
  readonly change: (patch: Partial<Draft>) => void
  readonly field: <Name extends keyof Draft & string>(name: Name) => FieldState<Draft[Name]>
  /** Shows an error beside a field until it changes. */
  readonly refuse: (field: keyof Draft & string, text: string) => void
  readonly submit: () => void
  /** Submits the draft with values that no field holds. */
  readonly submitWith: (patch: Partial<Draft>) => Promise<void>
  /** Back to the draft as it was opened. */
  readonly reset: () => void
}

/**
 * The state of a form: a draft, what is wrong with it, and the way to save it. Checks run when it
 * is submitted, and from then on with each change until nothing is wrong. An error that the
 * attempt revealed stays until its field changes. The first field with an error gets the focus.
 */
export function useDraftForm<Draft extends object, Fault extends string = string>(
  options: Options<Draft, Fault>,
): DraftForm<Draft> {
  const { validate = () => ({}), faultText = String } = options
  const ref = useRef<HTMLFormElement>(null)
  const [before] = useState(options.initial)
  const [draft, setDraft] = useState(before)
  const [faults, setFaults] = useState<FieldErrors<Draft, Fault>>({})
  const [refused, setRefused] = useState<FieldErrors<Draft>>({})
  const { isBusy, submit } = useSubmit(async (patch?: Partial<Draft>) => {
    const sent = patch === undefined ? draft : { ...draft, ...patch }
    const found = validate(sent, before)
    setFaults(found)
    if (!isEmpty(found)) return focusFirstFault(ref)
    setRefused({})
    try {
      await options.save(sent, before)
    } catch (error) {
      const errors =
        error instanceof FieldError
          ? (error.errors as FieldErrors<Draft>)
          : options.errorsOf?.(error)
      if (errors == null) throw error
      setRefused(errors)
      focusFirstFault(ref)
    }
  }, options.onRepeat)
  const change = (patch: Partial<Draft>) => {
    const next = { ...draft, ...patch }
    setDraft((now) => ({ ...now, ...patch }))
    setRefused((now) => without(now, patch))
    if (!isEmpty(faults)) setFaults(validate(next, before))
  }
  const errors = { ...refused, ...textsOf(faults, faultText) } as FieldErrors<Draft>
  return {
    ref,
    before,
    draft,
    errors,
    isChanged: comparable(draft) !== comparable(before),
    isBusy,
    change,
    field: (name) => ({
      value: draft[name],
      error: errors[name],
      onChange: (value) => change({ [name]: value } as unknown as Partial<Draft>),
    }),
    refuse: (field, text) => setRefused(errorAt<Draft>(field, text)),
    submit: () => void submit(),
    submitWith: submit,
    reset: () => {
      setDraft(before)
      setFaults({})
      setRefused({})
    },
  }
}

/** For a `<form>` that is not inside a `FormDrawer` or `FormDialog`. */
export const formProps = ({ ref, submit }: Pick<DraftForm<object>, 'ref' | 'submit'>) => ({
  ref,
  noValidate: true,
  onSubmit: (event: FormEvent) => {
    event.preventDefault()
    submit()
  },
})

/** `errorsOf` that shows an error of the API beside the field that lists its code. */
export const errorsByCode =
  <Draft>(codesOf: FieldCodes<Draft>) =>
  (error: unknown): FieldErrors<Draft> | null => {
    if (!(error instanceof ApiError)) return null
    const fields = Object.entries<readonly string[] | undefined>(codesOf)
    const [field] = fields.find(([, codes]) => codes?.includes(error.code)) ?? []
    return field === undefined ? null : errorAt<Draft>(field, error.message)
  }

/** The codes of the errors that belong to each field. */
export type FieldCodes<Draft> = Partial<Record<keyof Draft & string, readonly string[]>>

/** What is wrong with fields, by their names, as an attempt to save the draft has shown. */
export class FieldError extends Error {
  readonly errors: FieldErrors<Record<string, unknown>>

  constructor(errors: FieldErrors<Record<string, unknown>>) {
    super(Object.values(errors).join(' '))
    this.errors = errors
  }
}

const errorAt = <Draft>(field: string, text: string) => ({ [field]: text }) as FieldErrors<Draft>

const isEmpty = (errors: object): boolean => Object.keys(errors).length === 0

const without = <Errors extends object>(errors: Errors, fields: object): Errors =>
  Object.fromEntries(Object.entries(errors).filter(([name]) => !(name in fields))) as Errors

const textsOf = <Fault extends string>(
  faults: Partial<Record<string, Fault>>,
  textOf: (fault: Fault) => string,
) =>
  Object.fromEntries(
    Object.entries(faults).map(([name, fault]) => [name, textOf(fault as Fault)] as const),
  )

/** Equal for drafts that hold the same. */
const comparable = (draft: object): string =>
  JSON.stringify(draft, (_, value: unknown) => (value instanceof Map ? [...value] : value))
