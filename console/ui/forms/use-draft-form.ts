import { type FormEvent, type RefObject, useRef, useState } from 'react'
import { ApiError } from '#console/api/api-error.ts'
import { translate } from '#console/i18n/i18n.ts'
import { showInfo } from '../messages/toast.ts'
import { focusFirstError, useSubmit } from './use-submit.ts'

/**
 * The errors of a form by field. Each error is either a message for the user or a code from
 * `validate`.
 */
export type FieldErrors<Draft, ErrorKey extends string = string> = Partial<
  Record<keyof Draft & string, ErrorKey>
>

type Options<Draft, ErrorKey extends string> = {
  initial: () => Draft
  /**
   * Returns an error for each invalid value. `before` contains the values with which the form was
   * opened.
   */
  validate?: (draft: Draft, before: Draft) => FieldErrors<Draft, ErrorKey>
  errorText?: (errorKey: ErrorKey) => string
  /** Saves the values. To show an error at a field, this function throws a `FieldError`. */
  save: (draft: Draft, before: Draft) => Promise<void>
  /**
   * Returns messages for the fields to which an error of the server belongs. Returns null if the
   * error does not belong to a field.
   */
  errorsOf?: (error: unknown) => FieldErrors<Draft> | null
  /** Called if the user submits the form while it is still being saved. */
  onRepeat?: () => void
  onClose?: () => void
  /**
   * True if an error that does not belong to a field is shown in the form (`formError`). If false,
   * such an error is shown as a toast.
   */
  showsFormError?: boolean
}

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
  /** The last error that does not belong to a field, or an empty text. */
  readonly formError: string
  readonly isChanged: boolean
  readonly isBusy: boolean
  readonly change: (patch: Partial<Draft>) => void
  readonly field: <Name extends keyof Draft & string>(name: Name) => FieldState<Draft[Name]>
  readonly setFieldError: (field: keyof Draft & string, text: string) => void
  readonly submit: () => void
  readonly submitWith: (patch: Partial<Draft>) => Promise<void>
  readonly reset: () => void
  readonly close: () => void
}

const onDuplicate = () => showInfo(translate('auth.duplicateSubmit'))

/**
 * Keeps the values of a form until they are saved. The values are validated when the user submits
 * the form. After a failed validation, they are validated again on each change, so that an error
 * disappears once it is corrected.
 */
export function useDraftForm<Draft extends object, ErrorKey extends string = string>(
  options: Options<Draft, ErrorKey>,
): DraftForm<Draft> {
  const { validate = () => ({}), errorText = String } = options
  const ref = useRef<HTMLFormElement>(null)
  const [before] = useState(options.initial)
  const [draft, setDraft] = useState(before)
  const [errorKeys, setErrorKeys] = useState<FieldErrors<Draft, ErrorKey>>({})
  const serverErrors = useServerErrors(options)
  const { isBusy, submit } = useSubmit(
    async (patch?: Partial<Draft>) => {
      const sent = patch === undefined ? draft : { ...draft, ...patch }
      const found = validate(sent, before)
      setErrorKeys(found)
      if (!isEmpty(found)) return focusFirstError(ref)
      serverErrors.clear()
      await options.save(sent, before).catch((error: unknown) => {
        serverErrors.show(error)
        focusFirstError(ref)
      })
    },
    options.onRepeat,
    options.showsFormError === true ? onDuplicate : undefined,
  )
  const change = (patch: Partial<Draft>) => {
    setDraft((now) => ({ ...now, ...patch }))
    serverErrors.forget(patch)
    if (!isEmpty(errorKeys)) setErrorKeys(validate({ ...draft, ...patch }, before))
  }
  const reset = () => {
    setDraft(before)
    setErrorKeys({})
    serverErrors.clear()
  }
  const errors = { ...serverErrors.byField, ...textsOf(errorKeys, errorText) } as FieldErrors<Draft>
  return {
    ref,
    before,
    draft,
    errors,
    formError: serverErrors.ofForm,
    isChanged: comparable(draft) !== comparable(before),
    isBusy,
    change,
    field: (name) => ({
      value: draft[name],
      error: errors[name],
      onChange: (value) => change({ [name]: value } as unknown as Partial<Draft>),
    }),
    setFieldError: serverErrors.setAt,
    submit: () => void submit(),
    submitWith: submit,
    reset,
    close: () => {
      reset()
      options.onClose?.()
    },
  }
}

function useServerErrors<Draft>({
  errorsOf,
  showsFormError,
}: Pick<Options<Draft, string>, 'errorsOf' | 'showsFormError'>) {
  const [byField, setByField] = useState<FieldErrors<Draft>>({})
  const [ofForm, setOfForm] = useState('')
  return {
    byField,
    ofForm,
    show: (error: unknown) => {
      const isByField = error instanceof FieldError
      const errors = isByField ? error.errors : errorsOf?.(error)
      if (errors != null) return setByField(errors as FieldErrors<Draft>)
      if (showsFormError !== true) throw error
      setOfForm(error instanceof Error ? error.message : String(error))
    },
    setAt: (field: keyof Draft & string, text: string) => setByField(errorAt<Draft>(field, text)),
    forget: (fields: object) => setByField((now) => without(now, fields)),
    clear: () => {
      setByField({})
      setOfForm('')
    },
  }
}

/**
 * Returns the properties of a `<form>` element. `FormDrawer` and `FormDialog` already set these
 * properties.
 */
export const formProps = ({ ref, submit }: Pick<DraftForm<object>, 'ref' | 'submit'>) => ({
  ref,
  noValidate: true,
  onSubmit: (event: FormEvent) => {
    event.preventDefault()
    submit()
  },
})

/**
 * Returns a function that finds the field to which an error of the server belongs, and returns the
 * error's message for this field. `codesOf` contains the error codes for each field. The function
 * returns null if no field has the code of the error.
 */
export const errorsByCode =
  <Draft>(codesOf: FieldCodes<Draft>) =>
  (error: unknown): FieldErrors<Draft> | null => {
    if (!(error instanceof ApiError)) return null
    const fields = Object.entries<readonly string[] | undefined>(codesOf)
    const [field] = fields.find(([, codes]) => codes?.includes(error.code)) ?? []
    return field === undefined ? null : errorAt<Draft>(field, error.message)
  }

export type FieldCodes<Draft> = Partial<Record<keyof Draft & string, readonly string[]>>

/** Thrown by `save` to show errors at fields. `errors` contains the messages by field name. */
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

const textsOf = <ErrorKey extends string>(
  errorKeys: Partial<Record<string, ErrorKey>>,
  textOf: (errorKey: ErrorKey) => string,
) =>
  Object.fromEntries(
    Object.entries(errorKeys).map(
      ([name, errorKey]) => [name, textOf(errorKey as ErrorKey)] as const,
    ),
  )

const comparable = (draft: object): string =>
  JSON.stringify(draft, (_, value: unknown) => (value instanceof Map ? [...value] : value))
