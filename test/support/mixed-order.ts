import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files of all projects by turns, the larger ones first. One project after the other, browsers
 * would fight for the cores first, and the cores would idle later, while servers wait for each
 * other. Projects without isolation come last and without a gap: a worker process is kept only
 * until the next file in line is of another project.
 */
export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const places = new Map<TestSpecification, number>()
    for (const ofProject of Map.groupBy(sorted, ({ project }) => project.name).values()) {
      for (const [i, file] of ofProject.entries()) places.set(file, (i + 0.5) / ofProject.length)
    }
    const place = (file: TestSpecification): number =>
      file.project.config.isolate ? (places.get(file) ?? 0) : 1
    return sorted.toSorted((a, b) => place(a) - place(b))
  }
}
