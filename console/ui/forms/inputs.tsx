import type { ComponentProps } from 'react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon, type IconName } from '../elements/icons.tsx'

type TextInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'size'> & {
  value: string
  onChange: (value: string) => void
  icon?: IconName | undefined
  /** True for numbers and keys, which are easier to read if all characters have one width. */
  isMono?: boolean
}

/**
 * Properties for an input with `autoComplete`. Such an input contains a name or a code, which the
 * browser must not correct like prose.
 */
const VERBATIM = { spellCheck: false, autoCapitalize: 'none' } as const

/** A text input. It needs a label, either from `FormField` or as `aria-label`. */
export function TextInput({ onChange, icon, isMono, className, ...rest }: TextInputProps) {
  const classes = ['tg-input', isMono === true ? 'tg-mono' : '', className ?? '']
  const input = (
    <input
      type="text"
      {...(rest.autoComplete === undefined ? {} : VERBATIM)}
      {...rest}
      className={classes.join(' ').trim()}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
  if (icon === undefined) return input
  return (
    <span className="tg-input-icon">
      <Icon name={icon} />
      {input}
    </span>
  )
}

export function PasswordInput({ isKey = false, ...props }: TextInputProps & { isKey?: boolean }) {
  const { t } = useTranslation()
  const [isShown, setShown] = useState(false)
  return (
    <span className="tg-input-end">
      <TextInput {...props} type={isShown ? 'text' : 'password'} />
      <button
        type="button"
        className="tg-input-button"
        aria-label={t(buttonText(isKey, isShown))}
        aria-pressed={isShown}
        onClick={() => setShown(!isShown)}
      >
        <Icon name={isShown ? 'eyeOff' : 'eye'} />
      </button>
    </span>
  )
}

const buttonText = (isKey: boolean, isShown: boolean) => {
  if (isKey) return isShown ? 'ui.hideKey' : 'ui.showKey'
  return isShown ? 'ui.hidePassword' : 'ui.showPassword'
}

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'onChange' | 'value'> & {
  value: string
  onChange: (value: string) => void
  isMono?: boolean
}

export function TextArea({ onChange, isMono, className, ...rest }: TextAreaProps) {
  const classes = ['tg-input', 'tg-textarea', isMono === true ? 'tg-mono' : '', className ?? '']
  return (
    <textarea
      rows={4}
      spellCheck={isMono === true ? false : undefined}
      {...rest}
      className={classes.join(' ').trim()}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

export type Choice<Value extends string> = { value: Value; label: string; isDisabled?: boolean }

/** Returns the choices for values. By default, the label of a value is the value itself. */
export const choicesOf = <Value extends string>(
  values: readonly Value[],
  labelOf: (value: Value) => string = String,
): Choice<Value>[] => values.map((value) => ({ value, label: labelOf(value) }))

type SelectProps<Value extends string> = Omit<
  ComponentProps<'select'>,
  'onChange' | 'value' | 'size'
> & {
  value: Value
  choices: readonly Choice<Value>[]
  onChange: (value: Value) => void
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { choices, onChange, className, ...rest } = props
  return (
    <span className={`tg-select ${className ?? ''}`.trim()}>
      <select
        {...rest}
        className="tg-input"
        onChange={(event) => onChange(event.currentTarget.value as Value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} disabled={choice.isDisabled}>
            {choice.label}
          </option>
        ))}
      </select>
      <Icon name="chevronDown" />
    </span>
  )
}
