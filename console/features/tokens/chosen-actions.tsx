import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import type { Token } from '#read-api/contract/token.ts'
import type { TokenActions } from './use-token-actions.ts'

/** What can be done to the selected tokens; pressed with none, each says so. */
export function ChosenActions(props: {
  picked: readonly Token[]
  actions: TokenActions
  onDone: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { picked, actions } = props
  const remove = async () => {
    if (await actions.remove(picked)) props.onDone()
  }
  return (
    <fieldset className="tg-chosen tg-token-chosen" aria-label={t('tokens.chosenLabel')}>
      <span role="status">
        {picked.length > 0 ? t('tokens.chosen', { count: picked.length }) : t('tokens.noneChosen')}
      </span>
      <Button size="small" icon="copy" onClick={() => void actions.copyKeys(picked)}>
        {t('tokens.copyChosen')}
      </Button>
      <Button size="small" icon="play" onClick={() => void actions.setEnabled(picked, true)}>
        {t('tokens.enableChosen')}
      </Button>
      <Button size="small" icon="pause" onClick={() => void actions.setEnabled(picked, false)}>
        {t('tokens.disableChosen')}
      </Button>
      <Button size="small" icon="trash" onClick={() => void remove()}>
        {t('tokens.deleteChosen')}
      </Button>
    </fieldset>
  )
}
