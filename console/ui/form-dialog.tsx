import { type ReactElement, type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button.tsx'
import { Overlay } from './overlay.tsx'

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
  return (
    <Overlay
      isOpen={props.isOpen}
      onClose={props.onClose}
      labelledBy={id}
      className="tg-dialog tg-form-dialog"
    >
      <h2 id={id}>{props.title}</h2>
      {props.lead === undefined ? null : <p className="tg-dialog-body">{props.lead}</p>}
      <form
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
            isBusy={props.isBusy === true}
            isDisabled={props.isDisabled === true}
          >
            {props.submitText}
          </Button>
        </div>
      </form>
    </Overlay>
  )
}
