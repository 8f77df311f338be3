# CQM for Linux: the wheels of PyPI in an environment as they expect it, installed by uv on first use.
#   nix-build -E 'with import <nixpkgs> {}; callPackage ./packaging/nix/package.nix {}'
# Many of its packages are not in nixpkgs, so it can't be built from there.
{ lib, buildFHSEnv }:
let
  pinned = lib.importJSON ./version.json;
in
buildFHSEnv {
  name = "cqm";
  targetPkgs = pkgs: [
    pkgs.git
    pkgs.python313
    pkgs.stdenv.cc.cc.lib
    pkgs.uv
    pkgs.zlib
  ];
  runScript = "uvx --python python3.13 --from ${pinned.package}==${pinned.version} cqm";
  meta = {
    description = "Code-aware search for agents, as an MCP server and on the command line";
    homepage = "https://pypi.org/project/cqm-mcp/";
    license = lib.licenses.mit;
    mainProgram = "cqm";
    platforms = [ "x86_64-linux" "aarch64-linux" ];
  };
}
