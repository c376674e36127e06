import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '../elements/icons.tsx'

export type FieldControl = {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
  'aria-required': true | undefined
}

/** A control with its label, hint and error, which are linked for screen readers. */
export function FormField(props: {
  label: string
  hint?: ReactNode
  error?: string | undefined
  isRequired?: boolean
  children: (control: FieldControl) => ReactNode
}) {
  const { t } = useTranslation()
  const id = useId()
  const hasError = props.error !== undefined && props.error !== ''
  const parts = [
    ...(props.hint === undefined ? [] : [`${id}-hint`]),
    ...(hasError ? [`${id}-error`] : []),
  ]
  return (
    <div className={hasError ? 'tg-field tg-field-invalid' : 'tg-field'}>
      <label className="tg-label" htmlFor={id}>
        {props.label}
        {props.isRequired === true && (
          <span className="tg-required" title={t('ui.required')} aria-hidden="true">
            *
          </span>
        )}
      </label>
      {props.children({
        id,
        'aria-describedby': parts.length === 0 ? undefined : parts.join(' '),
        'aria-invalid': hasError ? true : undefined,
        'aria-required': props.isRequired === true ? true : undefined,
      })}
      {props.hint === undefined ? null : (
        <p id={`${id}-hint`} className="tg-hint">
          {props.hint}
        </p>
      )}
      {hasError && (
        <p id={`${id}-error`} className="tg-field-error">
          <Icon name="alert" size={14} />
          {props.error}
        </p>
      )}
    </div>
  )
}
