(* Prints the definitions of OCaml, found by its own parser: path, line, name. Paths are read from standard input. *)
open Parsetree

let tell path (at : Location.t) name = Printf.printf "%s\t%d\t%s\n" path at.loc_start.pos_lnum name
let named path (it : string Location.loc) = tell path it.loc it.txt

let rec bound path pattern =
  match pattern.ppat_desc with
  | Ppat_var name -> named path name
  | Ppat_alias (inner, name) -> named path name; bound path inner
  | Ppat_tuple all | Ppat_array all -> List.iter (bound path) all
  | Ppat_constraint (inner, _) | Ppat_lazy inner | Ppat_open (_, inner) -> bound path inner
  | Ppat_construct (_, Some (_, inner)) -> bound path inner
  | Ppat_record (fields, _) -> List.iter (fun (_, inner) -> bound path inner) fields
  | _ -> ()

let iterator path =
  let super = Ast_iterator.default_iterator in
  let optional = function { Location.txt = Some name; loc } -> tell path loc name | _ -> () in
  { super with
    expr = (fun _ _ -> ());
    with_constraint = (fun _ _ -> ());
    value_binding = (fun _ it -> bound path it.pvb_pat);
    value_description = (fun _ it -> named path it.pval_name);
    type_declaration = (fun self it -> named path it.ptype_name; super.type_declaration self it);
    constructor_declaration = (fun self it -> named path it.pcd_name; super.constructor_declaration self it);
    extension_constructor = (fun self it -> named path it.pext_name; super.extension_constructor self it);
    label_declaration = (fun _ it -> named path it.pld_name);
    module_binding = (fun self it -> optional it.pmb_name; super.module_binding self it);
    module_declaration = (fun self it -> optional it.pmd_name; super.module_declaration self it);
    module_type_declaration = (fun self it -> named path it.pmtd_name; super.module_type_declaration self it);
    class_declaration = (fun self it -> named path it.pci_name; super.class_declaration self it);
    class_description = (fun self it -> named path it.pci_name; super.class_description self it);
    class_type_declaration = (fun self it -> named path it.pci_name; super.class_type_declaration self it);
    class_field = (fun _ it -> match it.pcf_desc with
      | Pcf_method (name, _, _) | Pcf_val (name, _, _) -> named path name | _ -> ());
    class_type_field = (fun _ it -> match it.pctf_desc with
      | Pctf_method (name, _, _, _) | Pctf_val (name, _, _, _) -> named path name | _ -> ());
  }

let of_path path =
  let channel = open_in_bin path in
  let text = Lexing.from_channel channel in
  Lexing.set_filename text path;
  (try
    let it = iterator path in
    if Filename.check_suffix path ".mli" then it.signature it (Parse.interface text)
    else it.structure it (Parse.implementation text);
    Printf.printf "%s\t0\t\n" path
  with _ -> ());
  close_in channel

let () = try while true do of_path (input_line stdin) done with End_of_file -> ()
