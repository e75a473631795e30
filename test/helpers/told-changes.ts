import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** What is told of changes below a directory, and waits for it. */
export class ToldChanges<Told extends { readonly path: string }> {
  readonly root: string;
  readonly told: Told[] = [];
  #heard = (): void => {};
  #sentinels = 0;

  constructor(root: string) {
    this.root = root;
  }

  protected hear(told: Told): void {
    this.told.push(told);
    this.#heard();
  }

  async until(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) await new Promise<void>((resolve) => (this.#heard = resolve));
  }

  /** Waits until all that has happened must have been told: what is written later, several times, was. */
  async settled(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      this.#sentinels += 1;
      const path = `/sentinel-${this.#sentinels}`;
      writeFileSync(join(this.root, path), "");
      await this.until(() => this.told.some((each) => each.path === path));
    }
  }
}
