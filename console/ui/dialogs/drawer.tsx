import { type ReactNode, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../elements/button.tsx'
import { ConfirmDialog } from './confirm.tsx'
import { Overlay } from './overlay.tsx'

type DrawerProps = {
  isOpen: boolean
  /**
   * Called when the drawer closes. If there are unsaved changes, the drawer calls `onClose` only
   * after the user has agreed to discard them.
   */
  onClose: () => void
  title: string
  lead?: ReactNode
  isWide?: boolean
  hasUnsavedChanges?: boolean
  footer?: ReactNode
  children: ReactNode
}

export function Drawer(props: DrawerProps) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const id = useId()
  const close = () => (props.hasUnsavedChanges === true ? setAsking(true) : props.onClose())
  return (
    <>
      <Overlay
        isOpen={props.isOpen}
        onClose={close}
        labelledBy={id}
        className={props.isWide === true ? 'tg-drawer tg-drawer-wide' : 'tg-drawer'}
      >
        <div className="tg-drawer-head">
          <div>
            <h2 id={id}>{props.title}</h2>
            {props.lead === undefined ? null : <p>{props.lead}</p>}
          </div>
          <Button tone="quiet" icon="close" label={t('ui.close')} onClick={close} />
        </div>
        <div className="tg-drawer-body">{props.children}</div>
        {props.footer === undefined ? null : <div className="tg-drawer-foot">{props.footer}</div>}
      </Overlay>
      <ConfirmDialog
        isOpen={isAsking}
        title={t('ui.unsavedTitle')}
        body={t('ui.unsavedBody')}
        confirmText={t('ui.unsavedLeave')}
        cancelText={t('ui.unsavedStay')}
        tone="danger"
        onCancel={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false)
          props.onClose()
        }}
      />
    </>
  )
}
