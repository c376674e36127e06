import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import type { useChosenTokens } from './use-chosen-tokens.ts'
import type { TokenActions } from './use-token-actions.ts'

/** What can be done to the selected tokens; nothing while none is. */
export function ChosenActions(props: {
  chosen: ReturnType<typeof useChosenTokens>
  actions: TokenActions
}): ReactElement | null {
  const { t } = useTranslation()
  const { actions, chosen } = props
  const { picked, choosable } = chosen
  const remove = async () => {
    if (await actions.remove(picked)) chosen.chooseNone()
  }
  if (picked.length === 0) return null
  return (
    <fieldset className="tg-chosen tg-bulk" aria-label={t('tokens.chosenLabel')}>
      <span role="status">{t('tokens.chosen', { count: picked.length })}</span>
      {choosable > 0 && (
        <Button tone="quiet" size="small" onClick={() => void chosen.chooseAll()}>
          {t('tokens.chooseMatching', { count: choosable })}
        </Button>
      )}
      <Button tone="quiet" size="small" onClick={chosen.chooseNone}>
        {t('tokens.chooseNone')}
      </Button>
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
