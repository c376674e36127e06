import { useEffect, useRef } from 'react'
import { type Command, registerCommands } from './command.ts'

/** Registers the component's commands while it is mounted. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands)
  useEffect(() => {
    latest.current = commands
  })
  useEffect(() => registerCommands(latest), [])
}
