import { type ReactElement, type ReactNode, useEffect, useId, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button.tsx'
import { Overlay } from './overlay.tsx'
import { focusFirstFault } from './use-submit.ts'

const FIELDS = ':is(input, select, textarea):enabled:not([readonly], [type="hidden"])'

/** The first field that takes something in, if there is one. */
const focusFirstField = (panel: HTMLElement): void =>
  panel.querySelector<HTMLElement>(FIELDS)?.focus({ preventScroll: true })

/** A small dialog around one form: Enter submits it. For longer ones, `FormDrawer`. */
export function FormDialog(props: {
  isOpen: boolean
  title: string
  lead?: ReactNode
  submitText: string
  tone?: 'primary' | 'danger'
  isBusy?: boolean
  /** Nothing is submitted yet, by Enter neither. */
  isDisabled?: boolean
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}): ReactElement {
  const { t } = useTranslation()
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const isBusy = props.isBusy === true
  const wasBusy = useRef(false)
  useEffect(() => {
    if (wasBusy.current && !isBusy) focusFirstFault(form)
    wasBusy.current = isBusy
  }, [isBusy])
  return (
    <Overlay
      isOpen={props.isOpen}
      onClose={props.onClose}
      labelledBy={id}
      className="tg-dialog tg-form-dialog"
      onOpened={focusFirstField}
    >
      <h2 id={id}>{props.title}</h2>
      {props.lead === undefined ? null : <p className="tg-dialog-body">{props.lead}</p>}
      <form
        ref={form}
        className="tg-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (props.isDisabled !== true) props.onSubmit()
        }}
      >
        {props.children}
        <div className="tg-dialog-foot">
          <Button onClick={props.onClose}>{t('ui.cancel')}</Button>
          <Button
            type="submit"
            tone={props.tone ?? 'primary'}
            isBusy={isBusy}
            isDisabled={props.isDisabled === true}
          >
            {props.submitText}
          </Button>
        </div>
      </form>
    </Overlay>
  )
}
